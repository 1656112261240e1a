import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// A value that carries a credential is secret, whatever its name.
@Suite struct CredentialRedactionTests {
    private static let grant = TextRule.credential("token")

    @Test func `in any request's header, query item and form field`() {
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

    private static let carriers: [TextRule] = [
        grant, .session("s"), .base64(grant), .onlyFor(.streaming, grant), .firstOf(["a", grant]), .all([grant]),
        .joined([grant], separator: ","), .upTo("a", in: grant), .replacing("a", with: grant, in: "b"),
        .replacing("a", with: "b", in: grant), .from(grant, take: .host), .from(.host, take: grant),
        .json(["a": .array([["b": .wholeNumber(grant)]])]),
    ]

    @Test(arguments: carriers)
    func `anywhere inside a rule`(rule: TextRule) {
        var profile = VendorProfile.ezdrm
        profile.license.headers = [.init("x-one", rule), .init("x-other", .template("{host}-{licenseURL}"))]
        #expect(profile.redaction.headers == ["x-one"])
    }

    @Test func `in a member of a JSON body, at any depth`() {
        var profile = VendorProfile.ezdrm
        profile.license.body = .json([
            "plain": "a", "one": .rule(Self.grant),
            "outer": ["two": .array([.rule(.session("s"))]), "id": .rule(.spc)],
        ])
        #expect(profile.redaction.fields.subtracting(VendorProfile.ezdrm.redaction.fields) == ["one", "two"])
    }

    @Test func `besides those in the profile`() {
        var profile = VendorProfile.axinom
        profile.statedRedaction = Redaction(headers: ["x-more"])
        #expect(profile.redaction.headers == ["X-AxDRM-Message", "x-more"])
    }
}
