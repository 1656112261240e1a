import Foundation
import LatchkeyCore
import LatchkeyFairPlay

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// A minute before the token of RFC 7515 appendix A ends.
private let date = Date(timeIntervalSince1970: 1_300_819_320)

/// The keys of RFC 7515 A.1 to A.3 and RFC 8037 A.4, under short names.
private let document = Data(
    #"""
    {"keys":[
    {"kty":"oct","alg":"HS256","kid":"h",
    "k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"},
    {"kty":"RSA","alg":"RS256","kid":"r","e":"AQAB",
    "n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"},
    {"kty":"EC","alg":"ES256","kid":"e","crv":"P-256",
    "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
    {"kty":"OKP","alg":"EdDSA","kid":"o","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    ]}
    """#.utf8)

private let keys: KeySet = {
    do { return try KeySet(jwks: document) } catch { preconditionFailure("\(error)") }
}()

/// A token for the production server, and a key set. Forgery is impossible: a verified token is one of the published ones. Signed text
/// that was read and written again is the same text. No error shows a control character.
func fuzzJWT(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    do throws(TokenError) {
        let token = try TokenVerifier().verified(text, with: keys, at: date)
        require(token.claims["iss"] == .text("joe"), "a signature out of nothing")
    } catch {
        require(error.description.onOneLine == error.description, "an error on several lines")
    }
    if let read = try? CompactJWS(text) {
        let signed = String(decoding: read.signed, as: UTF8.self)
        require("\(signed).\(Base64URL.text(read.signature))".utf8.elementsEqual(data), "written, it is another text")
    }
    guard let set = try? KeySet(jwks: data) else { return }
    require(!set.keys.isEmpty, "a set without keys")
    for error in set.refused { require(error.description.onOneLine == error.description, "an error on several lines") }
    // OpenSSL tries random factors of a modulus: it may reject an invalid one only the second time.
    let rsa = Set(set.keys.filter { "RP".contains($0.algorithm.rawValue.prefix(1)) }.map(\.id))
    if let again = try? KeySet(jwks: set.publicDocument) {
        require(again.refused.allSatisfy { rsa.contains($0.id) }, "a key is not read again")
    }
}
