import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyDecision

/// The rules on claims. The refusals that guard against attacks are in `TokenAttackTests`.
@Suite(.timeLimit(.minutes(5))) struct TokenVerifierTests {
    @Test(arguments: TokenAlgorithm.allCases) func `a token of every algorithm is verified`(
        _ algorithm: TokenAlgorithm
    ) throws {
        let signer = try #require(SampleTokens.signers[algorithm])
        let text = try signer.token(SampleTokens.claims).revealedText
        let token = try TokenVerifier().verified(text, with: SampleTokens.keys, at: SampleTokens.now)
        #expect(token.claims == SampleTokens.claims)
        #expect(token.subject == "viewer" && token.identifier == "t-1")
        #expect(token.keyID?.text == "key-\(algorithm.rawValue)")
        #expect(token.issued == SampleTokens.now && token.expiry == SampleTokens.now + 300)
    }

    @Test(arguments: TokenAlgorithm.allCases) func `no flipped byte of a token goes unnoticed`(
        _ algorithm: TokenAlgorithm
    ) throws {
        let signer = try #require(SampleTokens.signers[algorithm])
        let text = Array(try signer.token(SampleTokens.claims).revealedText.utf8)
        var generator = SeededGenerator(seed: 7)
        let accepted = text.indices.filter { index in
            var changed = text
            changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            return SampleTokens.refusal(of: String(decoding: changed, as: UTF8.self), with: SampleTokens.keys) == nil
        }
        #expect(accepted == [])
    }

    @Test func `a token cut anywhere is refused`() throws {
        let text = try SampleTokens.token(payload: SampleTokens.payload)
        #expect(SampleTokens.refusal(of: text) == nil)
        let accepted = (0..<text.count).filter { SampleTokens.refusal(of: String(text.prefix($0))) == nil }
        #expect(accepted == [])
    }

    @Test func `many tasks verify with one set`() async throws {
        let tokens = try TokenAlgorithm.allCases.map { algorithm in
            try #require(SampleTokens.signers[algorithm]).token(SampleTokens.claims).revealedText
        }
        let refusals = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { tokens.count { SampleTokens.refusal(of: $0, with: SampleTokens.keys) != nil } }
            }
            return await group.reduce(0, +)
        }
        #expect(refusals == 0)
    }

    @Test(arguments: [
        (#"{"iat":1767225600,"exp":1767225601}"#, nil),
        (#"{"iat":1767225000,"exp":1767225600}"#, TokenError.Kind.time),
        (#"{"iat":1767225600,"exp":1767225600.5}"#, nil),
        (#"{"iat":1767225600,"exp":1767226200}"#, nil),
        (#"{"iat":1767225600,"exp":1767226201}"#, .time),
        (#"{"exp":1767226200}"#, nil), (#"{"exp":1767226201}"#, .time),
        (#"{"iat":1767225200,"exp":1767225800}"#, nil), (#"{"iat":1767225200,"exp":1767225801}"#, .time),
        (#"{"iat":1767225630,"exp":1767225900}"#, nil), (#"{"iat":1767225631,"exp":1767225900}"#, .time),
        (#"{"iat":1767225630.25,"exp":1767225900}"#, .time),
        (#"{"nbf":1767225630,"exp":1767225900}"#, nil), (#"{"nbf":1767225631,"exp":1767225900}"#, .time),
        (#"{"nbf":1.76722563e9,"exp":1.7672259E+9}"#, nil),
        (#"{"iat":1767225600}"#, .claim), ("{}", .claim),
    ])
    func `a token is valid from start to end, to the second`(_ claims: String, _ kind: TokenError.Kind?) throws {
        #expect(SampleTokens.refusal(of: try SampleTokens.token(payload: claims))?.kind == kind)
    }

    @Test(
        arguments: [
            "\"1767225900\"", "null", "true", "[]", "{}", "-1", "1e15", "253402300800", "[1767225900]",
        ], ["exp", "nbf", "iat"])
    func `a date must be a number of seconds`(_ value: String, _ claim: String) throws {
        let rest = claim == "exp" ? "" : #","exp":1767225900"#
        let token = try SampleTokens.token(payload: #"{"\#(claim)":\#(value)\#(rest)}"#)
        #expect(SampleTokens.refusal(of: token)?.kind == .claim)
    }

    @Test(arguments: [
        (Duration.zero, 0.0), (.seconds(30), 30), (.seconds(300), 300), (.seconds(3_600), 300), (.seconds(-5), 0),
    ])
    func `leeway is up to five minutes, and the end has none`(_ leeway: Duration, _ seconds: Double) throws {
        let rules = TokenRules(leeway: leeway, longestLife: .seconds(7_200))
        let start = SampleTokens.seconds + seconds
        let token = { try SampleTokens.token(payload: #"{"nbf":\#(Int(start) + $0),"exp":1767229200}"#) }
        #expect(SampleTokens.refusal(of: try token(0), rules) == nil)
        #expect(SampleTokens.refusal(of: try token(1), rules)?.kind == .time)
        let end = SampleTokens.now + 3_600
        #expect(SampleTokens.refusal(of: try token(0), rules, at: end)?.kind == .time)
    }

    @Test(arguments: [
        (#""aud":"license""#, nil), (#""aud":["other","license"]"#, nil), (#""aud":"other""#, TokenError.Kind.claim),
        (#""aud":[]"#, .claim), (#""aud":["license",1]"#, .claim), (#""aud":1"#, .claim), (#""x":1"#, .claim),
        (#""aud":"License""#, .claim),
    ])
    func `a token is for the audience that the rules name`(_ claim: String, _ kind: TokenError.Kind?) throws {
        let token = try SampleTokens.token(payload: #"{"exp":1767225900,\#(claim)}"#)
        #expect(SampleTokens.refusal(of: token, TokenRules(audiences: ["license", "spare"]))?.kind == kind)
    }

    @Test(arguments: [
        (#""iss":"https://a.example""#, nil), (#""iss":"https://a.example/""#, TokenError.Kind.claim),
        (#""iss":["https://a.example"]"#, .claim), (#""x":1"#, .claim),
    ])
    func `a token comes from an issuer that the rules name`(_ claim: String, _ kind: TokenError.Kind?) throws {
        let token = try SampleTokens.token(payload: #"{"exp":1767225900,\#(claim)}"#)
        let rules = TokenRules(issuers: ["https://a.example", "https://b.example"])
        #expect(SampleTokens.refusal(of: token, rules)?.kind == kind)
    }

    @Test(arguments: ["iss", "sub", "jti", "sid"], ["7", "null", "[]", "{}", "true", #"["a"]"#])
    func `a standard text claim must be text`(_ claim: String, _ value: String) throws {
        let token = try SampleTokens.token(payload: #"{"exp":1767225900,"\#(claim)":\#(value)}"#)
        #expect(SampleTokens.refusal(of: token)?.kind == .claim)
    }

    @Test(arguments: ["sub", "jti", "sid"]) func `an empty name is invalid`(_ claim: String) throws {
        let token = try SampleTokens.token(payload: #"{"exp":1767225900,"\#(claim)":""}"#)
        let refusal = SampleTokens.refusal(of: token)
        #expect(refusal?.kind == .claim && refusal?.reason.contains("“\(claim)” is empty") == true)
        #expect(
            SampleTokens.refusal(of: try SampleTokens.token(payload: #"{"exp":1767225900,"\#(claim)":" "}"#)) == nil)
    }

    @Test(arguments: [
        (#","typ":"license+jwt""#, nil), (#","typ":"application/License+JWT""#, nil),
        (#","typ":"JWT""#, TokenError.Kind.form), ("", .form), (#","typ":1"#, .form),
    ])
    func `a token is of the type that the rules name`(_ member: String, _ kind: TokenError.Kind?) throws {
        let token = try SampleTokens.token(header: #"{"alg":"HS256","kid":"key-HS256"\#(member)}"#)
        #expect(SampleTokens.refusal(of: token, TokenRules(type: "license+jwt"))?.kind == kind)
        #expect(SampleTokens.refusal(of: token) == nil)
    }

    @Test func `an expired token is refused before its signature is computed`() throws {
        let token = try SampleTokens.token(payload: #"{"exp":1767225599}"#).dropLast(3) + "AAA"
        #expect(SampleTokens.refusal(of: String(token))?.kind == .time)
    }

    @Test(arguments: TokenError.Kind.allCases) func `the client does not learn the cause`(
        _ kind: TokenError.Kind
    ) {
        let error = TokenError(kind, "What the operator reads.", remedy: "Mend it.")
        #expect(error.refusal == .tokenRefused)
        #expect(error.refusal.status == 401 && error.refusal.code == "tokenRefused")
        #expect(!error.refusal.description.contains("operator"))
        #expect(error.code == "token\(kind.rawValue.capitalized)")
    }

    @Test func `a verified token prints no claim`() throws {
        let text = try SampleTokens.token(payload: #"{"exp":1767225900,"sub":"PLANTED"}"#)
        let token = try TokenVerifier().verified(text, with: SampleTokens.secretKeys, at: SampleTokens.now)
        #expect("\(token)" == "token until 1767225900, key key-HS256")
    }
}
