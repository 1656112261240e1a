import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

@Suite(.timeLimit(.minutes(5))) struct TokenSignerTests {
    @Test func `the header says algorithm, key and type`() throws {
        let signer = try TokenSigner(generating: .es384, id: TokenKeyID("a/b"))
        let token = try CompactJWS(try signer.token([:]).revealedText)
        #expect(token.header == ["alg": .text("ES384"), "kid": .text("a/b"), "typ": .text("JWT")])
        let bare = try TokenSigner(generating: .edDSA)
        #expect(try CompactJWS(try bare.token([:], type: nil).revealedText).header == ["alg": .text("EdDSA")])
    }

    @Test(arguments: [
        (TokenAlgorithm.es256, 64), (.es384, 96), (.es512, 132), (.edDSA, 64), (.rs256, 256), (.ps512, 256),
        (.hs256, 32), (.hs384, 48), (.hs512, 64),
    ])
    func `a signature has the length of its algorithm`(_ algorithm: TokenAlgorithm, _ count: Int) throws {
        let signer = try #require(SampleTokens.signers[algorithm])
        // Numbers with leading zeros keep their length: one signature in 128 has one.
        let counts = try (0..<(count < 100 ? 300 : 3)).map { number in
            try CompactJWS(try signer.token(["n": .number(Double(number))]).revealedText).signature.count
        }
        #expect(Set(counts) == [count])
    }

    @Test(arguments: TokenAlgorithm.allCases) func `a key pair survives PEM`(_ algorithm: TokenAlgorithm) throws {
        let kind: PublicKey.Kind
        switch algorithm.method {
        case .hmac: return
        case .signature(.ecdsa(let curve, _)): kind = .elliptic(curve)
        case .signature(.ed25519): kind = .ed25519
        case .signature: kind = .rsa(bits: 2_048)
        }
        let made = try KeyPair(kind)
        let pair = try #require(KeyPair(pem: try made.pem()))
        #expect(pair.publicKey.kind == kind)
        let key = try TokenKey(algorithm, pem: Array(try made.publicKey.pem().utf8))
        #expect(key.signed(try CompactJWS(try TokenSigner(algorithm, pair: pair).token([:]).revealedText)))
    }

    @Test func `a pair of another kind is refused`() throws {
        let pair = try KeyPair(.elliptic(.p256))
        #expect(throws: KeySetError.self) { try TokenSigner(.es384, pair: pair) }
        #expect(throws: KeySetError.self) { try TokenSigner(.rs256, pair: pair) }
        #expect(throws: KeySetError.self) { try TokenSigner(.hs256, pair: pair) }
        #expect(throws: OpenSSLError.self) { try pair.signature(of: [], .ed25519) }
        #expect(KeyPair(pem: Secret("no key")) == nil)
        #expect(KeyPair(ed25519: Secret("too short")) == nil)
    }

    @Test func `a small RSA key signs no token`() throws {
        let error = #expect(throws: KeySetError.self) { try TokenSigner(.rs256, pair: KeyPair(.rsa(bits: 1_024))) }
        #expect(error?.reason.contains("1024 bits") == true)
    }
}
