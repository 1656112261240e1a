import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVendorWire
import Testing

@testable import LatchkeyForms
@testable import LatchkeyServices

@Suite struct JSONWebTokenTests {
    // RFC 7515, appendix A.1: a 64-byte key.
    private static let header = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"
    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let signature = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let key =
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"

    @Test func `the published example is read and verified`() throws {
        let token = try #require(JSONWebToken("\(Self.header).\(Self.claims).\(Self.signature)"))
        let key = Secret(try #require(Data(lenientBase64: Self.key)))
        #expect(token.algorithm == "HS256")
        #expect(token.claims["iss"]?.text == "joe")
        #expect(token.claims["exp"]?.number == 1_300_819_380)
        #expect(token.claims["http://example.com/is_root"]?.flag == true)
        #expect(token.isSigned(with: key))
        #expect(!token.isSigned(with: Secret("another key")))
    }

    @Test func `other claims under the same signature are not verified`() throws {
        let claims = Data(#"{"iss":"eve"}"#.utf8).base64URL
        let token = try #require(JSONWebToken("\(Self.header).\(claims).\(Self.signature)"))
        #expect(!token.isSigned(with: Secret(try #require(Data(lenientBase64: Self.key)))))
    }

    @Test func `a minted token is verified`() throws {
        let key = Secret("key")
        let token = try #require(JSONWebToken(JSONWebToken.text(claims: .object(["kid": .text("*")]), key: key)))
        #expect(token.claims["kid"]?.texts == ["*"])
        #expect(token.isSigned(with: key))
    }

    @Test func `HMAC-SHA-512 matches RFC 4231, test case 2`() throws {
        let bytes = try Array("Jefe".utf8).withUnsafeBytes { key in
            try MessageDigest.hmacSHA512(key: key, Array("what do ya want for nothing?".utf8))
        }
        #expect(
            bytes.hexString == "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737")
    }

    @Test(arguments: [("HS256", true), ("HS512", true), ("RS256", false)])
    func `either algorithm signs and verifies`(_ algorithm: String, _ isVerified: Bool) throws {
        let text = JSONWebToken.text(claims: .object([:]), key: Secret("key"), algorithm: algorithm)
        #expect(try #require(JSONWebToken(text)).isSigned(with: Secret("key")) == isVerified)
    }

    @Test(arguments: [
        "", "a", "a.b", "a.b.c", "....", "\(header).\(claims)", "\(header).\(claims).", "\(header).W10.\(signature)",
    ])
    func `other text is invalid`(_ text: String) {
        #expect(JSONWebToken(text) == nil)
    }

    @Test func `a token cut anywhere is not verified`() throws {
        let text = "\(Self.header).\(Self.claims).\(Self.signature)"
        let key = Secret(try #require(Data(lenientBase64: Self.key)))
        let verified = (0..<text.count).filter { JSONWebToken(String(text.prefix($0)))?.isSigned(with: key) == true }
        #expect(verified.isEmpty)
    }
}
