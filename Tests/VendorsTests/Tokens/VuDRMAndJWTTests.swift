import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite struct VuDRMAndJWTTests {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let key = KeyID("66666666-7777-8888-9999-AAAAAAAAAAAA")

    static func jwt(_ claims: String) -> String {
        [#"{"alg":"HS256"}"#, claims, "x"].map { Data($0.utf8).base64EncodedString().filter { $0 != "=" } }
            .joined(separator: ".")
    }

    private func advice(_ claims: String, purpose: KeyPurpose = .streaming) -> [String] {
        TokenFormat.jwt.inspect(Self.jwt(claims), keyID: Self.key, purpose: purpose, at: Self.now).advice.map(\.code)
    }

    @Test(arguments: [
        (TokenSample.vuDRM, TokenFormat.vuDRM), ("a|b|2|c|d", .vuDRM), (jwt("{}"), .jwt), ("a.b.c", .opaque),
        ("", .opaque),
        ("a|b", .opaque),
    ])
    func `is recognized`(token: String, format: TokenFormat) {
        #expect(TokenFormat.detect(token) == format)
    }

    @Test(arguments: [
        (#"{"exp":1700000001}"#, []), (#"{"exp":1700000000}"#, ["expired"]), (#"{"exp":1e300,"nbf":-1e300}"#, []),
        (#"{"drmTokenInfo":{"exp":"2020-01-01T00:00:00.000Z"},"exp":1900000000}"#, ["expired"]),
        (#"{"nbf":1700000060}"#, []), (#"{"nbf":1700000061}"#, ["notYetValid"]), (#"{"kid":["*"]}"#, []),
        (#"{"kid":"*"}"#, []),
        (#"{"kid":["66666666777788889999aaaaaaaaaaaa"]}"#, []), (#"{"kid":["odd"]}"#, ["keyNotCovered"]),
        (#"{"drmTokenInfo":{"kid":["00000000-0000-0000-0000-000000000000"]}}"#, ["keyNotCovered"]),
        (#"{"kid":5}"#, ["keyNotCovered"]),
    ])
    func `gives advice on a JWT`(claims: String, expected: [String]) {
        #expect(advice(claims) == expected)
    }

    @Test(arguments: [
        (#"{"persistent":false}"#, ["noOfflineRight"]), (#"{"persistent":true}"#, []), ("{}", []),
        (#"{"fairplay":{"persistent":false}}"#, ["noOfflineRight"]),
        (#"{"drmTokenInfo":{"p":{"pers":false}}}"#, ["noOfflineRight"]),
    ])
    func `checks the permission to store only for a stored key`(claims: String, expected: [String]) {
        #expect(advice(claims, purpose: .persistable) == expected)
        #expect(advice(claims) == [])
    }

    @Test func `shows the facts of a JWT`() {
        let token = Self.jwt(#"{"exp":1900000000,"iss":"me","kid":["*"],"persistent":true}"#)
        let facts = TokenFormat.jwt.inspect(token, at: Self.now).facts.map { "\($0.name)=\($0.value)" }
        #expect(facts == ["algorithm=HS256", "iss=me", "expires=2030-03-17T17:46:40Z", "keys=*", "may be stored=true"])
    }

    @Test(arguments: ["", "a.b", "a.b.c.d", "e30.e30", "e30.W10.x", "…"])
    func `calls a broken JWT malformed`(token: String) {
        #expect(TokenFormat.jwt.inspect(token, at: Self.now).advice.map(\.code) == ["malformed"])
    }

    @Test(arguments: [
        (TokenSample.vuDRM, []), ("c|2023-11-14T22:12:00Z|p|\(String(repeating: "F", count: 40))", ["mayHaveExpired"]),
        ("c|2018-26-11T00:00:00Z|p|\(String(repeating: "0", count: 40))", []),
        ("c|2023-11-14T22:13:00Z|2|p|\(String(repeating: "a", count: 40))", []),
        ("|2018-26-11|p|zz", ["malformed", "malformed"]), ("a|b", ["malformed"]), ("", ["malformed"]),
    ])
    func `gives advice on a VuDRM token`(token: String, expected: [String]) {
        #expect(TokenFormat.vuDRM.inspect(token, at: Self.now).advice.map(\.code) == expected)
    }

    @Test func `shows neither policy nor hash`() {
        let token = "client|2018-01-01T00:00:00Z|POLICY|\(String(repeating: "ab", count: 20))"
        let inspection = TokenFormat.vuDRM.inspect(token, at: Self.now)
        #expect(inspection.facts.map(\.value) == ["client", "2018-01-01T00:00:00Z"])
        #expect(TokenFormat.opaque.inspect(token, at: Self.now).facts.isEmpty)
    }
}

@Suite struct IntegrationRegistryTests {
    @Test func `builds profiles and the app's own integrations`() throws {
        struct Mine: VendorIntegration { let identifier: String }
        let registry = IntegrationRegistry()
        registry.register("mine") { Mine(identifier: $0["name"] ?? "?") }
        #expect(registry.identifiers == (VendorProfile.all.map(\.identifier) + ["mine"]).sorted())
        #expect(try registry.integration("mine", settings: ["name": "a"]).identifier == "a")
        func settings(_ address: String) throws -> [String: String]? {
            let made = try registry.integration("vudrm", settings: ["certificateURL": address])
            return (made as? ConfiguredVendor)?.profile.settings
        }
        #expect(try settings("https://a") == ["certificateURL": "https://a"])
        #expect(try settings("https://b") == ["certificateURL": "https://b"])
        let error = #expect(throws: IntegrationError.self) { try registry.integration("vudrm") }
        #expect(error?.kind == .missingSetting)
    }

    @Test func `names the registered ones when another is requested`() {
        let error = #expect(throws: IntegrationError.self) {
            try IntegrationRegistry(profiles: [.vuDRM]).integration("vudmr")
        }
        #expect(error?.kind == .unknownIntegration)
        #expect(error?.remedy == "Choose one of vudrm.")
    }
}
