import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyDecision

@Suite(.timeLimit(.minutes(5))) struct KeySetTests {
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    private static let good = #"{"kty":"oct","alg":"HS256","kid":"good","k":"\#(SampleTokens.k)"}"#

    /// The problem of a key in a set that has a good key, too; `nil` if it is taken.
    private func problem(_ jwk: String) throws -> KeySetError? {
        let set = try KeySet(jwks: SampleTokens.document([Self.good, jwk]))
        #expect(set.keys.count + set.refused.count == 2)
        return set.refused.first
    }

    @Test(arguments: TokenAlgorithm.allCases)
    func `a public key survives its publication, and a secret is not published`(
        _ algorithm: TokenAlgorithm
    ) throws {
        let signer = try #require(SampleTokens.signers[algorithm])
        let document = try KeySet([signer.verificationKey]).publicDocument
        guard case .signature = algorithm.method else {
            #expect(document == Data(#"{"keys":[]}"#.utf8))
            return
        }
        let key = try #require(try KeySet(jwks: document).keys.first)
        #expect(key.id == signer.verificationKey.id && key.algorithm == algorithm)
        #expect(key.signed(try CompactJWS(try signer.token([:]).revealedText)))
    }

    @Test(arguments: [
        (#"{"kty":"oct","kid":"weak","k":"\#(SampleTokens.k)"}"#, "it has no “alg”"),
        (#"{"kty":"oct","alg":"none","kid":"weak","k":"\#(SampleTokens.k)"}"#, "not supported for tokens"),
        (#"{"kty":"oct","alg":"A128KW","kid":"weak","k":"\#(SampleTokens.k)"}"#, "not supported for tokens"),
        (#"{"kty":"oct","alg":256,"kid":"weak","k":"\#(SampleTokens.k)"}"#, "not supported for tokens"),
        (#"{"kty":"oct","alg":"HS256","kid":"weak","k":"AAECAwQFBgcICQoLDA0ODw"}"#, "it has 16 bytes"),
        (#"{"kty":"oct","alg":"HS512","kid":"weak","k":"\#(SampleTokens.k.prefix(64))"}"#, "it has 48 bytes"),
        (#"{"kty":"oct","alg":"HS256","kid":"weak","k":"a+b="}"#, "not URL-safe base64"),
        (#"{"kty":"oct","alg":"HS256","kid":"weak"}"#, "not URL-safe base64"),
        (#"{"kty":"oct","alg":"RS256","kid":"weak","k":"\#(SampleTokens.k)"}"#, "needs a public key"),
        (#"{"kty":"RSA","alg":"RS256","kid":"weak","n":"\#(SampleTokens.k)","e":"AQAB"}"#, "fewer than 2048 bits"),
        (#"{"kty":"RSA","alg":"HS256","kid":"weak","n":"\#(SampleTokens.k)","e":"AQAB"}"#, "does not fit its “alg”"),
        (#"{"kty":"EC","alg":"ES384","kid":"weak","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#, "does not match ES384"),
        (
            #"{"kty":"EC","alg":"ES256","kid":"weak","crv":"P-256","x":"\#(y)","y":"\#(x)"}"#,
            "numbers do not form a key"
        ),
        (#"{"kty":"EC","alg":"ES256","kid":"weak","crv":"P-256","x":"\#(x)","y":"AA"}"#, "numbers do not form a key"),
        (
            #"{"kty":"EC","alg":"ES256","kid":"weak","crv":"P-256","x":"\#(x)=","y":"\#(y)"}"#,
            "“x” is not URL-safe base64"
        ),
        (#"{"kty":"EC","alg":"ES256","kid":"weak","crv":"secp256k1","x":"\#(x)","y":"\#(y)"}"#, "not P-256"),
        (#"{"kty":"OKP","alg":"EdDSA","kid":"weak","crv":"Ed448","x":"\#(x)"}"#, "not Ed25519"),
        (#"{"kty":"OKP","alg":"EdDSA","kid":"weak","crv":"Ed25519","x":"AAAA"}"#, "numbers do not form a key"),
        (#"{"kty":"new","alg":"ES256","kid":"weak"}"#, "not oct"),
        (#"{"alg":"ES256","kid":"weak"}"#, "it has no “kty”"),
        (#"{"kty":"oct","alg":"HS256","use":"enc","kid":"weak","k":"\#(SampleTokens.k)"}"#, "“use” is not “sig”"),
        (
            #"{"kty":"oct","alg":"HS256","key_ops":["sign"],"kid":"weak","k":"\#(SampleTokens.k)"}"#,
            "not include “verify”"
        ),
        (
            #"{"kty":"oct","alg":"HS256","key_ops":"verify","kid":"weak","k":"\#(SampleTokens.k)"}"#,
            "not include “verify”"
        ),
    ])
    func `an unusable key is refused by name, and the others are accepted`(
        _ jwk: String, _ reason: String
    ) throws {
        let error = try #require(try problem(jwk))
        #expect(error.reason.contains(reason), "\(error)")
        #expect(error.id?.text == "weak" && error.reason.contains("“weak”"))
        #expect(error.place == "keys[1]" && error.reason.contains("at keys[1] "))
    }

    /// A set with the public keys of these algorithms, none of which states its use.
    private static func withoutAlgorithms(
        _ algorithms: [TokenAlgorithm], of taken: [TokenAlgorithm] = []
    ) throws -> KeySet {
        let signers = try algorithms.map { try #require(SampleTokens.signers[$0]) }
        let stated = String(decoding: try KeySet(signers.map(\.verificationKey)).publicDocument, as: UTF8.self)
        let silent = stated.replacing(/"alg":"[A-Za-z0-9]+",/, with: "")
        #expect(silent != stated)
        return try KeySet(jwks: Data(silent.utf8), algorithms: taken)
    }

    @Test(arguments: [TokenAlgorithm.es256, .es384, .es512, .edDSA, .rs256])
    func `a key without an algorithm is for its kind's only one, and RSA for RS256`(
        _ algorithm: TokenAlgorithm
    ) throws {
        let set = try Self.withoutAlgorithms([algorithm])
        #expect(set.keys.map(\.algorithms) == [[algorithm]])
        let token = try #require(SampleTokens.signers[algorithm]).token(SampleTokens.claims).revealedText
        #expect(SampleTokens.refusal(of: token, with: set) == nil)
    }

    @Test func `RSA without an algorithm is only for the tenant's algorithms`() throws {
        let set = try Self.withoutAlgorithms([.rs256], of: [.ps256, .es256, .rs384])
        #expect(set.keys.map(\.algorithms) == [[.ps256, .rs384]])
        let refusals = try [TokenAlgorithm.ps256, .rs384, .rs256, .ps512].map { algorithm in
            // One RSA key pair signs for all.
            let signer = try #require(SampleTokens.signers[algorithm])
            let header = #"{"alg":"\#(algorithm.rawValue)","kid":"key-RS256"}"#
            let token = try signer.token(header: Data(header.utf8), payload: Data(SampleTokens.payload.utf8))
            return SampleTokens.refusal(of: token.revealedText, with: set)?.kind
        }
        #expect(refusals == [nil, nil, .algorithm, .algorithm])
        #expect(throws: KeySetError.self) { try Self.withoutAlgorithms([.rs256], of: [.es256]) }
    }

    @Test(arguments: [
        (#"{"kty":"oct","alg":"HS256","kid":"a","k":"\#(SampleTokens.k)"}"#, "it is for HS256"),
        (#"{"kty":"EC","kid":"a","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#, "it is for ES256"),
        (#"{"kty":"oct","kid":"a","k":"\#(SampleTokens.k)"}"#, nil),
    ])
    func `a tenant's algorithms keep other keys out, and say what a secret is for`(_ jwk: String, _ reason: String?)
        throws
    {
        let other = #"{"kty":"oct","alg":"HS384","kid":"b","k":"\#(SampleTokens.k)"}"#
        let set = try KeySet(jwks: SampleTokens.document([other, jwk]), algorithms: [.hs384])
        #expect(set.refused.map { $0.reason.contains(reason ?? "none") } == (reason == nil ? [] : [true]))
        #expect(set.keys.map(\.algorithm) == (reason == nil ? [.hs384, .hs384] : [.hs384]))
    }

    @Test func `Ed25519 is another name of EdDSA, in keys and in headers`() throws {
        let signer = try #require(SampleTokens.signers[.edDSA])
        let document = try KeySet([signer.verificationKey]).publicDocument
        let text = String(decoding: document, as: UTF8.self)
        let renamed = Data(text.replacing(#""alg":"EdDSA""#, with: #""alg":"Ed25519""#).utf8)
        #expect(renamed != document)
        for set in [try KeySet(jwks: document), try KeySet(jwks: renamed)] {
            let refusals = try ["EdDSA", "Ed25519", "Ed448"].map { name in
                let header = #"{"alg":"\#(name)","kid":"key-EdDSA"}"#
                let token = try signer.token(header: Data(header.utf8), payload: Data(SampleTokens.payload.utf8))
                return SampleTokens.refusal(of: token.revealedText, with: set)?.kind
            }
            #expect(refusals == [nil, nil, .algorithm])
        }
    }

    @Test func `public keys in PEM are a set, with a block for each`() throws {
        let signers = try [TokenAlgorithm.es256, .edDSA].map { try #require(SampleTokens.signers[$0]) }
        let pem = try signers.map { try #require($0.verificationKey.publicKey).pem() }.joined(separator: "\n")
        let set = try KeySet(jwks: Data(pem.utf8))
        #expect(set.keys.map(\.algorithm) == [.es256, .edDSA])
        let nameless = try TokenSigner(generating: .es384)
        let own = try #require(nameless.verificationKey.publicKey).pem()
        let token = try nameless.token(SampleTokens.claims).revealedText
        #expect(SampleTokens.refusal(of: token, with: try KeySet(jwks: Data(own.utf8))) == nil)
        let secret = try KeyPair(.elliptic(.p256)).pem().revealedText
        let both = try KeySet(jwks: Data((own + secret).utf8))
        #expect(both.refused.map(\.place) == ["block 2"])
        #expect(both.refused.first?.reason.contains("private key") == true)
    }

    @Test(arguments: [
        (#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#, "a single key, not a set", "Put the key into a list"),
        (#"{"keys":[{"kty":"oct","alg":"HS256","k":"AAECAwQFBgcICQoLDA0ODw"}]}"#, "16 bytes", "32 random bytes"),
        (#"{"keys":[{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)","d":"AA"}]}"#, "private", "only the public key"),
        (#"{"keys":[{"kty":"oct","k":"\#(SampleTokens.k)"}]}"#, "no “alg”", "State its “alg”"),
        (#"{"issuer":"https://tokens.example"}"#, "no “keys” list", "key set"),
    ])
    func `a set without a valid key gives the remedy for its first one`(
        _ document: String, _ reason: String, _ remedy: String
    ) throws {
        let error = #expect(throws: KeySetError.self) { try KeySet(jwks: Data(document.utf8)) }
        #expect(error?.reason.contains(reason) == true && error?.remedy.contains(remedy) == true, "\(error as Any)")
    }

    @Test(arguments: [
        #"{"kty":"oct","alg":"HS256","use":"sig","key_ops":["verify"],"kid":"x","k":"\#(SampleTokens.k)"}"#,
        #"{"kty":"EC","alg":"ES256","kid":"x","crv":"P-256","x":"\#(x)","y":"\#(y)","x5c":["MIIB"],"ext":true}"#,
        #"{"kty":"oct","alg":"HS512","k":"\#(SampleTokens.k)"}"#,
    ])
    func `a key with extra members is accepted`(_ jwk: String) throws {
        #expect(try problem(jwk) == nil)
    }

    @Test(arguments: ["1", "null", "[]", "\"good\""]) func `only an object is a key`(_ jwk: String) throws {
        #expect(try problem(jwk)?.id == nil)
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi", "oth"])
    func `a private key is refused and never shown`(_ member: String) throws {
        let jwk = #"""
            {"kty":"EC","alg":"ES256","kid":"leak","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)","\#(member)":"UExBTlRFRA"}
            """#
        let error = try #require(try problem(jwk))
        #expect(error.reason.contains("private member “\(member)”"))
        #expect(!error.description.contains("UExBTlRFRA"))
    }

    @Test func `no key is shown by a set`() throws {
        let set = try KeySet(jwks: SampleTokens.document([Self.good]))
        var shown = "\(set) \(set.keys)"
        dump(set, to: &shown)
        #expect(!shown.contains(SampleTokens.k) && shown.contains("good"))
    }

    @Test func `of two keys of one name the first counts`() throws {
        let other = Self.good.replacing("HS256", with: "HS384")
        #expect(try problem(other)?.reason.contains("another key has the same name") == true)
        #expect(try problem(other)?.place == "keys[1]")
        let key = try TokenKey(.hs256, id: TokenKeyID("a"), secret: SampleTokens.secret)
        #expect(throws: KeySetError.self) { try KeySet([key, key]) }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[{}]}"#, #"{"keys":[],"keys":[]}"#, "PEM",
        #"{"keys":[[[[[[[[[[]]]]]]]]]]}"#,
    ])
    func `a document without a usable key is refused`(_ document: String) {
        #expect(throws: KeySetError.self) { try KeySet(jwks: Data(document.utf8)) }
    }

    @Test func `a document beyond 64 KiB is refused`() throws {
        let document = { (blanks: Int) in SampleTokens.document([Self.good + String(repeating: " ", count: blanks)]) }
        let room = KeySet.limit - document(0).count
        #expect(try KeySet(jwks: document(room)).keys.count == 1)
        #expect(throws: KeySetError.self) { try KeySet(jwks: document(room + 1)) }
    }

    @Test func `keys from PEM are added to the set`() throws {
        let pair = try KeyPair(.elliptic(.p256))
        let pem = try TokenKey(.es256, id: TokenKeyID("pem"), pem: Array(try pair.publicKey.pem().utf8))
        let set = try KeySet(jwks: SampleTokens.document([Self.good]), beside: [pem])
        #expect(set.keys.map { $0.id?.text } == ["pem", "good"])
        let alone = try KeySet(jwks: SampleTokens.document([]), beside: [pem])
        #expect(alone.keys.count == 1)
        #expect(throws: KeySetError.self) { try KeySet([]) }
    }

    @Test func `PEM of anything but a public key is refused`() throws {
        let pair = try KeyPair(.elliptic(.p256))
        let texts = ["", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", try pair.pem().revealedText]
        for text in texts {
            let error = #expect(throws: KeySetError.self) { try TokenKey(.es256, pem: Array(text.utf8)) }
            #expect(error?.description.contains("MIG") == false)
        }
        let long = [UInt8](repeating: 0x20, count: KeySet.limit + 1)
        #expect(throws: KeySetError.self) { try TokenKey(.es256, pem: long) }
    }

    @Test func `numbers of a non-RSA key are refused`() throws {
        let odd = [UInt8](repeating: 0xff, count: 256)
        #expect(PublicKey(.rsa(modulus: odd, exponent: [1])) == nil)
        #expect(PublicKey(.rsa(modulus: odd, exponent: [2])) == nil)
        #expect(PublicKey(.rsa(modulus: odd, exponent: [])) == nil)
        #expect(PublicKey(.rsa(modulus: odd, exponent: [UInt8](repeating: 1, count: 9))) == nil)
        #expect(PublicKey(.rsa(modulus: [UInt8](repeating: 0xff, count: 1_025), exponent: [1, 0, 1])) == nil)
    }

    @Test func `a token without a key name matches any of a few keys for its algorithm`() throws {
        let token = try SampleTokens.token(header: #"{"alg":"HS256"}"#)
        let own = try TokenKey(.hs256, id: TokenKeyID("own"), secret: SampleTokens.secret)
        let other = try TokenKey(.hs384, id: TokenKeyID("other"), secret: SampleTokens.secret)
        let strangers = try (0..<KeySet.candidateLimit).map {
            try TokenKey(
                .hs256, id: TokenKeyID("stranger-\($0)"), secret: Secret([UInt8](repeating: UInt8($0), count: 32)))
        }
        #expect(SampleTokens.refusal(of: token, with: try KeySet([own, other])) == nil)
        #expect(SampleTokens.refusal(of: token, with: try KeySet(strangers.dropLast() + [own])) == nil)
        #expect(SampleTokens.refusal(of: token, with: try KeySet([own] + strangers.dropLast())) == nil)
        let none = SampleTokens.refusal(of: token, with: try KeySet(strangers))
        #expect(none?.kind == .signature && none?.reason.contains("none of the 4") == true)
        let tooMany = SampleTokens.refusal(of: token, with: try KeySet([own] + strangers))
        #expect(tooMany?.kind == .key && tooMany?.unknownKey == nil && tooMany?.reason.contains("5 for HS256") == true)
        #expect(SampleTokens.refusal(of: token, with: try KeySet([other]))?.kind == .key)
        #expect(SampleTokens.refusal(of: token, with: .empty)?.kind == .key)
    }

    @Test func `during key rotation tokens without a key's name are verified too`() throws {
        let (old, new) = (try TokenSigner(generating: .es256), try TokenSigner(generating: .es256))
        let tokens = try [old, new].map { try $0.token(SampleTokens.claims).revealedText }
        let refusals = { (set: KeySet) in tokens.map { SampleTokens.refusal(of: $0, with: set)?.kind } }
        #expect(refusals(try KeySet([old.verificationKey])) == [nil, .signature])
        #expect(refusals(try KeySet([old.verificationKey, new.verificationKey])) == [nil, nil])
        #expect(refusals(try KeySet([new.verificationKey])) == [.signature, nil])
    }

    @Test func `during key rotation both verify, then the old one does not`() throws {
        let old = try TokenSigner(generating: .es256, id: TokenKeyID("2026-a"))
        let new = try TokenSigner(generating: .es256, id: TokenKeyID("2026-b"))
        let tokens = try [old, new].map { try $0.token(SampleTokens.claims).revealedText }
        let refusals = { (set: KeySet) in tokens.map { SampleTokens.refusal(of: $0, with: set)?.kind } }
        #expect(refusals(try KeySet([old.verificationKey])) == [nil, .key])
        #expect(refusals(try KeySet([old.verificationKey, new.verificationKey])) == [nil, nil])
        #expect(refusals(try KeySet([new.verificationKey])) == [.key, nil])
    }
}
