import Foundation
import LatchkeyCore
import LatchkeyFairPlay

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// Keys and tokens for the tests of this folder.
enum SampleTokens {
    /// 2026-01-01T00:00:00Z.
    static let now = Date(timeIntervalSince1970: 1_767_225_600)
    static let seconds = 1_767_225_600.0
    static let secret = Secret([UInt8](0..<64))

    /// Claims of a token that is valid for five minutes.
    static let claims: [String: JSONValue] = [
        "iat": .number(seconds), "exp": .number(seconds + 300), "sub": .text("viewer"), "jti": .text("t-1"),
        "iss": .text("https://tokens.example"), "aud": .text("license"),
    ]

    /// A signer per algorithm; the RSA signers share a key pair, because making one is slow.
    static let signers: [TokenAlgorithm: TokenSigner] = {
        var signers: [TokenAlgorithm: TokenSigner] = [:]
        let rsa = try? KeyPair(.rsa(bits: 2_048))
        for algorithm in TokenAlgorithm.allCases {
            let id = TokenKeyID("key-\(algorithm.rawValue)")
            switch algorithm.method {
            case .signature(.rsaPKCS1), .signature(.rsaPSS):
                signers[algorithm] = rsa.flatMap { try? TokenSigner(algorithm, id: id, pair: $0) }
            default: signers[algorithm] = try? TokenSigner(generating: algorithm, id: id)
            }
        }
        return signers
    }()

    /// The keys of all signers.
    static let keys = (try? KeySet(TokenAlgorithm.allCases.compactMap { signers[$0]?.verificationKey })) ?? .empty

    /// A token of any header and payload, under a secret that the set `secretKeys` has as `key-HS256`.
    static func token(header: String, payload: String = payload) throws -> String {
        let signer = try TokenSigner(.hs256, id: TokenKeyID("key-HS256"), secret: secret)
        return try signer.token(header: Data(header.utf8), payload: Data(payload.utf8)).revealedText
    }

    static func token(payload: String) throws -> String { try token(header: header, payload: payload) }

    static let header = #"{"alg":"HS256","kid":"key-HS256"}"#
    static let payload = #"{"iat":1767225600,"exp":1767225900}"#
    static let secretKeys = keySet(#"{"kty":"oct","alg":"HS256","kid":"key-HS256","k":"\#(k)"}"#)
    static let k = Base64URL.text([UInt8](0..<64))

    /// The set with these keys, in JSON; empty if it cannot be read.
    static func keySet(_ keys: String...) -> KeySet {
        (try? KeySet(jwks: document(keys))) ?? .empty
    }

    static func document(_ keys: [String]) -> Data { Data(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8) }

    /// The error with which a token is refused; `nil` if it is not.
    static func refusal(
        of token: String, _ rules: TokenRules = TokenRules(), with keys: KeySet = secretKeys, at date: Date = now
    ) -> TokenError? {
        do throws(TokenError) {
            _ = try TokenVerifier(rules).verified(token, with: keys, at: date)
            return nil
        } catch { return error }
    }
}
