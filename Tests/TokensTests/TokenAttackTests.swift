import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// Tokens by which verifiers were fooled. Source: RFC 8725 §2 and §3.
@Suite(.timeLimit(.minutes(5))) struct TokenAttackTests {
    private func jws(_ header: String, signature: [UInt8]) -> String {
        let signed = CompactJWS.signed(header: Data(header.utf8), payload: Data(SampleTokens.payload.utf8))
        return "\(signed).\(Base64URL.text(signature))"
    }

    private func signer(_ algorithm: TokenAlgorithm) throws -> TokenSigner {
        try #require(SampleTokens.signers[algorithm])
    }

    @Test(arguments: [
        (TokenError.form("It is long."), "Create"), (.algorithm("It is long."), "Sign"),
        (.time("It is long."), "Fetch"),
        (.claim("It is long."), "Compare"),
    ])
    func `a reason names the fault, and a remedy the fix`(_ error: TokenError, _ verb: String) {
        #expect(error.reason.hasSuffix("It is long.") && error.remedy.hasPrefix(verb))
    }

    @Test(arguments: ["none", "None", "NONE", "nOnE"]) func `a token that says none is refused`(_ name: String) {
        let header = #"{"alg":"\#(name)","kid":"key-HS256"}"#
        #expect(SampleTokens.refusal(of: jws(header, signature: [1]))?.kind == .algorithm)
        #expect(SampleTokens.refusal(of: jws(header, signature: []))?.kind == .form)
    }

    @Test func `HMAC rejects a public key`() throws {
        let key = try #require(try signer(.rs256).verificationKey.publicKey)
        let pem = Secret(try key.pem())
        let header = #"{"alg":"HS256","kid":"key-RS256"}"#
        let signed = CompactJWS.signed(header: Data(header.utf8), payload: Data(SampleTokens.payload.utf8))
        let mac = try MessageDigest.hmac(.sha256, key: pem, Array(signed.utf8))
        let error = SampleTokens.refusal(of: "\(signed).\(Base64URL.text(mac))", with: SampleTokens.keys)
        #expect(error?.kind == .algorithm)
        #expect(throws: KeySetError.self) { try TokenKey(.hs256, secret: pem) }
        #expect(throws: KeySetError.self) { try TokenKey(.hs256, pem: pem.withUnsafeBytes { Array($0) }) }
        #expect(throws: KeySetError.self) { try TokenKey(.hs256, publicKey: key) }
    }

    @Test(
        arguments: TokenAlgorithm.allCases,
        [TokenAlgorithm.hs256, .rs256, .ps256, .es256, .edDSA])
    func `the header does not choose another algorithm for a key`(
        _ stated: TokenAlgorithm, _ own: TokenAlgorithm
    ) throws {
        let signer = try signer(own)
        let header = #"{"alg":"\#(stated.rawValue)","kid":"key-\#(own.rawValue)"}"#
        let token = try signer.token(header: Data(header.utf8), payload: Data(SampleTokens.payload.utf8)).revealedText
        let kind = SampleTokens.refusal(of: token, with: SampleTokens.keys)?.kind
        #expect(kind == (stated == own ? nil : .algorithm))
    }

    @Test(arguments: [
        #""crit":["b64"],"b64":true"#, #""crit":[]"#, #""crit":["exp"]"#, #""zip":"DEF""#,
        #""jku":"https://evil.example/keys""#, #""x5u":"https://evil.example/chain""#, #""x5c":["MIIB"]"#,
        #""jwk":null"#, #""b64":false"#, #""enc":"A256GCM""#, #""typ":"JWE""#, #""typ":"application/jwe""#,
    ])
    func `a header that brings or asks for something is refused`(_ member: String) throws {
        let token = try SampleTokens.token(header: #"{"alg":"HS256","kid":"key-HS256",\#(member)}"#)
        let error = SampleTokens.refusal(of: token)
        #expect(error?.kind == .form)
        #expect(error?.reason.contains("evil") == false)
    }

    @Test func `a key in the header is refused, even if its signature fits`() throws {
        let stranger = try TokenSigner(generating: .es256, id: TokenKeyID("key-ES256"))
        let jwk = String(decoding: try JSONEncoder().encode(try #require(stranger.verificationKey.jwk)), as: UTF8.self)
        let header = #"{"alg":"ES256","kid":"key-ES256","jwk":\#(jwk)}"#
        let token = try stranger.token(header: Data(header.utf8), payload: Data(SampleTokens.payload.utf8))
        #expect(SampleTokens.refusal(of: token.revealedText, with: SampleTokens.keys)?.kind == .form)
    }

    @Test(arguments: [
        "../../../dev/null", "x' OR '1'='1", "key-HS256\\u0000", "KEY-HS256", "https://evil.example/k", "key-HS256 ",
        "|id",
    ])
    func `the name of a key is only looked up`(_ name: String) throws {
        let token = try SampleTokens.token(header: #"{"alg":"HS256","kid":"\#(name)"}"#)
        let error = SampleTokens.refusal(of: token)
        #expect(error?.kind == .key)
        #expect(error?.unknownKey != nil)
    }

    @Test(arguments: ["1", "null", "\"\"", "[\"key-HS256\"]", "\"\(String(repeating: "k", count: 257))\""])
    func `an invalid key name is refused`(_ name: String) throws {
        let error = SampleTokens.refusal(of: try SampleTokens.token(header: #"{"alg":"HS256","kid":\#(name)}"#))
        #expect(error?.kind == .form)
    }

    @Test func `a stranger's key name fits on one line and is cut`() throws {
        let name = #"\n\u001b[31mFAKE\u202e"# + String(repeating: "k", count: 200)
        let error = try #require(
            SampleTokens.refusal(of: try SampleTokens.token(header: #"{"alg":"HS256","kid":"\#(name)"}"#)))
        #expect(error.description.onOneLine == error.description)
        #expect(error.reason.count < 150)
    }

    @Test(arguments: [TokenAlgorithm.es256, .es384, .es512]) func `an ECDSA signature in DER is refused`(
        _ algorithm: TokenAlgorithm
    ) throws {
        let text = try signer(algorithm).token(SampleTokens.claims).revealedText
        let token = try CompactJWS(text)
        let half = token.signature.count / 2
        let number = { (bytes: ArraySlice<UInt8>) -> [UInt8] in
            let short = Array(bytes.drop { $0 == 0 })
            let positive = (short.first ?? 0) > 0x7f ? [0] + short : short
            return [2, UInt8(positive.count)] + positive
        }
        let body = number(token.signature.prefix(half)) + number(token.signature.suffix(half))
        let der = [0x30] + (body.count > 0x7f ? [0x81] : []) + [UInt8(body.count)] + body
        let signed = String(decoding: token.signed, as: UTF8.self)
        #expect(SampleTokens.refusal(of: text, with: SampleTokens.keys) == nil)
        let error = SampleTokens.refusal(of: "\(signed).\(Base64URL.text(der))", with: SampleTokens.keys)
        #expect(error?.kind == .signature)
    }

    @Test(arguments: [TokenAlgorithm.es256, .es384, .es512]) func `zero-padded ECDSA numbers are refused`(
        _ algorithm: TokenAlgorithm
    ) throws {
        let token = try CompactJWS(try signer(algorithm).token(SampleTokens.claims).revealedText)
        let half = token.signature.count / 2
        let longer = [0] + token.signature.prefix(half) + [0] + token.signature.suffix(half)
        let signed = String(decoding: token.signed, as: UTF8.self)
        let error = SampleTokens.refusal(of: "\(signed).\(Base64URL.text(longer))", with: SampleTokens.keys)
        #expect(error?.kind == .signature)
    }

    @Test(arguments: [TokenAlgorithm.es256, .es384, .es512, .edDSA, .rs256, .ps256, .hs256])
    func `a signature of zeros is refused`(_ algorithm: TokenAlgorithm) throws {
        let token = try CompactJWS(try signer(algorithm).token(SampleTokens.claims).revealedText)
        let signed = String(decoding: token.signed, as: UTF8.self)
        let zeros = [UInt8](repeating: 0, count: token.signature.count)
        let error = SampleTokens.refusal(of: "\(signed).\(Base64URL.text(zeros))", with: SampleTokens.keys)
        #expect(error?.kind == .signature)
    }

    @Test(arguments: TokenAlgorithm.allCases) func `another key of the same kind is refused`(
        _ algorithm: TokenAlgorithm
    ) throws {
        let stranger = try TokenSigner(generating: algorithm, id: TokenKeyID("key-\(algorithm.rawValue)"))
        let token = try stranger.token(SampleTokens.claims).revealedText
        #expect(SampleTokens.refusal(of: token, with: SampleTokens.keys)?.kind == .signature)
    }

    @Test func `the signature of another token is refused`() throws {
        let one = try SampleTokens.token(payload: SampleTokens.payload)
        let other = try SampleTokens.token(payload: #"{"exp":1767225900,"sub":"somebody else"}"#)
        let mixed = one.split(separator: ".").prefix(2) + other.split(separator: ".").suffix(1)
        #expect(SampleTokens.refusal(of: mixed.joined(separator: "."))?.kind == .signature)
    }

    @Test(arguments: [
        #"{"alg":"HS256","alg":"HS256","kid":"key-HS256"}"#, #"{"alg":"HS256","kid":"key-HS256","kid":"other"}"#,
        #"{"alg":"HS256","\u0061lg":"none","kid":"key-HS256"}"#,
    ])
    func `a duplicate header member is refused`(_ header: String) throws {
        #expect(SampleTokens.refusal(of: try SampleTokens.token(header: header))?.kind == .form)
    }

    @Test(arguments: [
        #"{"exp":1767225900,"exp":1767225900}"#, #"{"exp":1767225900,"a":{"b":1,"b":2}}"#,
        #"{"exp":1767225900,"sub":"a","\u0073ub":"b"}"#,
    ])
    func `a duplicate claim is refused`(_ claims: String) throws {
        #expect(SampleTokens.refusal(of: try SampleTokens.token(payload: claims))?.kind == .form)
    }

    @Test(arguments: [(7, true), (8, false), (10_000, false)])
    func `JSON deeper than eight levels is refused`(_ depth: Int, _ isTaken: Bool) throws {
        let lists = String(repeating: "[", count: min(depth, 2_000)) + String(repeating: "]", count: min(depth, 2_000))
        let inClaims = try SampleTokens.token(payload: #"{"exp":1767225900,"a":\#(lists)}"#)
        #expect(SampleTokens.refusal(of: inClaims)?.kind == (isTaken ? nil : .form))
        let inHeader = try SampleTokens.token(header: #"{"alg":"HS256","kid":"key-HS256","a":\#(lists)}"#)
        #expect(SampleTokens.refusal(of: inHeader)?.kind == (isTaken ? nil : .form))
    }

    @Test func `a token longer than 8 KiB is refused`() throws {
        let token = {
            try SampleTokens.token(payload: #"{"exp":1767225900,"a":"\#(String(repeating: "a", count: $0))"}"#)
        }
        // 88 bytes are header, signature and dots; every three bytes of claims make four.
        let fitting = try #require(try (6_000...6_144).last { try token($0).utf8.count <= 8_192 })
        #expect(SampleTokens.refusal(of: try token(fitting)) == nil)
        #expect(SampleTokens.refusal(of: try token(fitting + 1))?.kind == .form)
        #expect(SampleTokens.refusal(of: try token(1_000_000))?.kind == .form)
    }

    @Test func `an encrypted token is refused`() {
        let error = SampleTokens.refusal(of: "eyJhbGciOiJkaXIifQ..AAAA.AAAA.AAAA")
        #expect(error?.kind == .form)
        #expect(error?.reason.contains("encrypted") == true)
    }

    @Test(arguments: [
        "", ".", "..", "...", "a", "a.b", "a.b.c", "....", ".....", "{}", "e30.e30.", ".e30.AA",
        "W10.e30.AA",
        "e30.e30.AA.AA", "e30.e30.AA\n", " e30.e30.AA", "e30.e30.AA=", "e30.e30.A", "e30.e30.AB", "e31.e30.AA",
        "e30.e30.A+", "e30.e30.é",
    ])
    func `a malformed token is refused`(_ text: String) {
        let kind = SampleTokens.refusal(of: text)?.kind
        #expect(kind == .form)
    }

    @Test func `an error contains no part of a token`() throws {
        let payloads = [
            #"{"exp":1,"sub":"PLANTED"}"#, #"{"exp":"PLANTED"}"#,
            #"{"exp":1767225900,"aud":"PLANTED","iss":"PLANTED"}"#,
            #"{"PLANTED":1,"PLANTED":2}"#, "PLANTED",
        ]
        let rules = TokenRules(audiences: ["license"], issuers: ["me"])
        let texts = try payloads.map {
            SampleTokens.refusal(of: try SampleTokens.token(payload: $0), rules)?.description
        }
        #expect(texts.allSatisfy { $0?.contains("PLANTED") == false })
    }
}
