import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

@Suite(.timeLimit(.minutes(5))) struct TokenVectorTests {
    @Test(arguments: TokenVector.all) func `a published signature is valid`(_ vector: TokenVector) throws {
        let key = try #require(SampleTokens.keySet(vector.jwk).keys.first)
        #expect(key.signed(try CompactJWS(vector.token)))
    }

    @Test(arguments: TokenVector.all) func `a published signature with a flipped bit is not`(_ vector: TokenVector)
        throws
    {
        let key = try #require(SampleTokens.keySet(vector.jwk).keys.first)
        let signature = try CompactJWS(vector.token).signature
        let accepted = try signature.indices.filter { index in
            var flipped = signature
            flipped[index] ^= 1 << (index % 8)
            return key.signed(try CompactJWS("\(vector.signed).\(Base64URL.text(flipped))"))
        }
        #expect(accepted == [])
    }

    @Test(arguments: TokenVector.all, [0, 1, 2]) func `a published signature of another length is not`(
        _ vector: TokenVector, _ change: Int
    ) throws {
        let key = try #require(SampleTokens.keySet(vector.jwk).keys.first)
        let signature = try CompactJWS(vector.token).signature
        let changed = [signature.dropLast(), signature + [0], [0] + signature][change]
        #expect(!key.signed(try CompactJWS("\(vector.signed).\(Base64URL.text(changed))")))
    }

    @Test(arguments: TokenVector.claimed) func `a published token is verified in its time`(_ vector: TokenVector) throws
    {
        let keys = SampleTokens.keySet(vector.jwk)
        let date = Date(timeIntervalSince1970: 1_300_819_379)
        let token = try TokenVerifier().verified(vector.token, with: keys, at: date)
        #expect(token.claims["iss"] == .text("joe"))
        #expect(token.claims["http://example.com/is_root"] == .flag(true))
        #expect(token.expiry == Date(timeIntervalSince1970: 1_300_819_380))
        #expect(SampleTokens.refusal(of: vector.token, with: keys)?.kind == .time)
    }

    @Test(arguments: [TokenVector.a4, .es512, .ed25519]) func `signed text that is not JSON is refused`(
        _ vector: TokenVector
    ) {
        let error = SampleTokens.refusal(of: vector.token, with: SampleTokens.keySet(vector.jwk))
        #expect(error?.kind == .form)
    }

    @Test func `Ed25519 signs as published`() throws {
        let seed = try #require(Base64URL.bytes(of: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A".utf8))
        let pair = try #require(KeyPair(ed25519: Secret(seed)))
        let signature = try pair.signature(of: Array(TokenVector.ed25519.signed.utf8), .ed25519)
        #expect(Base64URL.text(signature) == TokenVector.ed25519.signature)
        let public25519 = try #require(Base64URL.bytes(of: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo".utf8))
        #expect(try pair.publicKey.numbers() == .ed25519(public25519))
    }

    @Test func `HS256 signs as published`() throws {
        let key = try #require(Base64URL.bytes(of: "hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg".utf8))
        let signer = try TokenSigner(.hs256, secret: Secret(key))
        let vector = try CompactJWS(TokenVector.hs256.token)
        let header = #"{"alg":"HS256","kid":"018c0ae5-4d9b-471b-bfd6-eef314bc7037"}"#
        let made = try signer.token(header: Data(header.utf8), payload: Data(vector.payload))
        #expect(made.revealedText == TokenVector.hs256.token)
    }

    // RFC 4231, test cases 2 and 6: a short key, and one longer than a block.
    @Test(arguments: [
        (
            SHA2.sha256, Secret("Jefe"), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            .sha384, Secret("Jefe"), "what do ya want for nothing?",
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649"
        ),
        (
            .sha256, Secret([UInt8](repeating: 0xaa, count: 131)),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            .sha512, Secret([UInt8](repeating: 0xaa, count: 131)),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
                + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"
        ),
    ])
    func `an HMAC matches RFC 4231`(_ hash: SHA2, _ key: Secret, _ text: String, _ expected: String) throws {
        #expect(try MessageDigest.hmac(hash, key: key, Array(text.utf8)).hexString == expected)
    }
}
