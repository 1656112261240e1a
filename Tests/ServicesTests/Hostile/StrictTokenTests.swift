import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyVendorWire
import Testing

@testable import LatchkeyForms
@testable import LatchkeyServices

/// Tokens that a careless reader accepts. Source: RFC 7515 §2 and §4.1.11, RFC 7519 §2 and §4, RFC 4648 §3.5 and §5.
@Suite struct StrictTokenTests {
    private static let key = Secret("a key of the customer's")
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    private func checked(_ token: String) throws -> JSONWebToken {
        try JSONWebToken.checked(token, key: nil, date: Self.now)
    }

    @Test(arguments: [
        #"{"alg":"HS256","crit":["b64"],"b64":true}"#, #"{"alg":"HS256","crit":["http://example.com/x"]}"#,
        #"{"alg":"HS256","crit":[]}"#, #"{"alg":"HS256","alg":"HS256"}"#, #"["alg"]"#, "1", #"{"alg":"none"}"#,
        #"{"alg":["HS256"]}"#, "{}",
    ])
    func `a header with unknown requirements is refused`(_ header: String) {
        let error = #expect(throws: LicenseRefusal.self) { try checked(jwt("{}", header: header)) }
        #expect(error?.kind == .tokenMalformed)
    }

    @Test(
        arguments: [
            "nan", "NaN", "inf", "1e999", "0x7fffffff", "\"9999999999\"", "\"soon\"", "null", "true", "[]", "{}",
            "-1", "1e15",
        ], ["exp", "nbf", "iat"])
    func `a date must be a number of seconds`(_ value: String, _ claim: String) {
        let error = #expect(throws: LicenseRefusal.self) { try checked(jwt(#"{"\#(claim)":\#(value)}"#)) }
        #expect(error?.kind == .tokenMalformed)
    }

    @Test(arguments: [
        (#"{"exp":1767225601}"#, nil), (#"{"exp":1767225600}"#, LicenseRefusal.Kind.tokenExpired),
        (#"{"exp":1767225600.5}"#, nil), (#"{"nbf":1767225600}"#, nil),
        (#"{"nbf":1767225601}"#, .tokenNotYetValid), (#"{"exp":1.767225601e9}"#, nil),
    ])
    func `dates are exact to a second`(_ claims: String, _ kind: LicenseRefusal.Kind?) {
        var refused: LicenseRefusal.Kind?
        do { _ = try checked(jwt(claims)) } catch let error as LicenseRefusal { refused = error.kind } catch {}
        #expect(refused == kind)
    }

    @Test func `a repeated claim is refused`() {
        #expect(throws: LicenseRefusal.self) { try checked(jwt(#"{"exp":1,"exp":9999999999}"#)) }
    }

    @Test(
        arguments: [
            { $0 + "=" }, { $0 + "==" }, { "\t" + $0 }, { " " + $0 }, { $0 + "\n" },
            { $0.replacing(".", with: ".\t") }, { $0.replacing(".", with: "\r\n.") }, { $0.replacing("-", with: "+") },
            { $0.replacing("_", with: "/") }, { $0 + ".A" }, { "." + $0 },
        ] as [@Sendable (String) -> String])
    func `a token in another spelling is refused`(_ change: @Sendable (String) -> String) throws {
        // Bytes that need both letters that the two alphabets do not share.
        let token = JSONWebToken.text(claims: .object(["a": .text("?>?>ÿÿ~~")]), key: Self.key)
        try #require(token.contains("-") || token.contains("_"))
        #expect(JSONWebToken(token) != nil)
        let changed = change(token)
        #expect(changed == token || JSONWebToken(changed) == nil)
    }

    @Test func `loose bits after the last byte are refused`() throws {
        // 32 bytes of zeros end in an A whose lower two bits mean nothing.
        let token = jwt("{}")
        #expect(JSONWebToken(token) != nil)
        for letter in "BCD" { #expect(JSONWebToken(token.dropLast() + String(letter)) == nil) }
    }

    @Test(arguments: [#""soon""#, "true", "{}"]) func `a vendor's invalid date is refused, not ignored`(
        _ date: String
    ) {
        let nagra = #"{"ver":"1.0","typ":"ContentAuthZ","contentRights":[{"contentId":"c","end":\#(date)}]}"#
        #expect(throws: LicenseRefusal.self) { try NAGRAContentToken(jwt(nagra), key: nil, date: Self.now) }
        let cloudDRM = #"{"exp":1767229200,"drmTokenInfo":{"kid":["*"],"p":{"pers":true,"ed":\#(date)}}}"#
        #expect(throws: LicenseRefusal.self) { try CloudDRMToken(jwt(cloudDRM), key: nil, date: Self.now) }
        let axinom = """
            {"version":1,"com_key_id":"69e54088-e9e0-4530-8c1a-1eb6dcd0d14e","expiration_date":\(date),
            "message":{"type":"entitlement_message","version":2}}
            """
        #expect(throws: LicenseRefusal.self) {
            try AxinomMessage(jwt(axinom), key: nil, communicationKeyID: nil, date: Self.now)
        }
    }

    @Test func `used tokens are remembered by digest, up to ten thousand`() {
        let used = UsedTokens()
        #expect(used.add(Secret("first")))
        #expect(!used.add(Secret("first")))
        for number in 0..<9_999 { #expect(used.add(Secret("\(number)"))) }
        #expect(!used.add(Secret("first")))
        #expect(used.add(Secret("one more")))
        #expect(used.add(Secret("first")))
    }
}
