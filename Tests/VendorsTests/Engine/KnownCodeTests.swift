import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// A vendor's codes in a body of an unpublished form.
@Suite struct KnownCodeTests {
    private func code(in body: String) -> String? {
        var profile = VendorProfile.ezdrm
        profile.errors = ErrorRules(
            code: [.knownCode], kinds: ["-12": .forbidden, "-123": .notFound, "E7": .regionDenied])
        return ProfileWire(profile, key: "skd://k").refusal(body, status: 400)?.service?.code
    }

    @Test(arguments: [
        ("error -12", "-12"), (#"{"code":-123}"#, "-123"), ("<b>E7</b>", "E7"), ("E7 after -12", "E7"),
    ])
    func `the first known code is found in any context`(body: String, expected: String) {
        #expect(code(in: body) == expected)
    }

    @Test(arguments: ["", "-1", "-1234", "utf-123", "2024-12", "THE7", "E70", "e7"])
    func `lookalikes of a code are ignored`(body: String) { #expect(code(in: body) == nil) }
}
