import LatchkeyCore
import LatchkeyVendors
import Testing

/// What carries a credential is secret whatever its name.
@Suite struct CredentialRedactionTests {
    private static let grant = TextRule.credential("token")

    @Test func `in a header, a query item and a form field of any request`() {
        var profile = VendorProfile.ezdrm
        profile.certificate = .fetched(
            RequestRule(url: URLRule("https://h", [.addQueryIfAbsent(name: "cert-grant", value: Self.grant)])), .der)
        profile.lookup = LookupRule(
            .key,
            request: RequestRule(
                url: URLRule("https://h", [.setQuery(name: "q", value: .all(["a", .base64(Self.grant)]))])), values: [:]
        )
        profile.license.headers = [.init("x-one", Self.grant), .init("x-other", "plain")]
        profile.renewalRequest = RequestRule(
            url: URLRule("https://h"), headers: [.init("{two}", Self.grant)], body: .form([.init("f", Self.grant)]))
        profile.settings = ["two": "x-two"]
        let redaction = profile.redaction
        #expect(redaction.headers == ["x-one", "x-two"])
        #expect(redaction.queryItems == ["cert-grant", "q"])
        #expect(redaction.fields == ["f"])
    }

    @Test func `beside what the profile states`() {
        var profile = VendorProfile.axinom
        profile.statedRedaction = Redaction(headers: ["x-more"])
        #expect(profile.redaction.headers == ["X-AxDRM-Message", "x-more"])
    }
}
