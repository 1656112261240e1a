package import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// Reading and writing JSON web keys.
///
/// Source: RFC 7517 §4; RFC 7518 §6; RFC 8037 §2.
extension TokenKey {
    /// Members that only a private key has.
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth"]

    /// Reads a JSON web key.
    /// - Throws: `TokenKeyError` for a key that states no algorithm, states one that does not fit it, is weak, is not for verifying,
    ///   or is a private one.
    init(jwk: JSONValue) throws(TokenKeyError) {
        guard case .object = jwk else { throw TokenKeyError(nil, "it is no JSON object") }
        var id: TokenKeyID?
        if let name = jwk["kid"] {
            guard case .text(let text) = name, let read = TokenKeyID(text) else {
                throw TokenKeyError(nil, "its “kid” is no text of 1 to \(TokenKeyID.limit) bytes")
            }
            id = read
        }
        try Self.checkUse(jwk, id)
        guard case .text(let name)? = jwk["alg"] else { throw TokenKeyError(id, "it has no “alg”") }
        guard let algorithm = TokenAlgorithm(rawValue: name) else {
            throw TokenKeyError(id, "its “alg” is none that verifies tokens here")
        }
        guard case .text(let type)? = jwk["kty"] else { throw TokenKeyError(id, "it has no “kty”") }
        if type == "oct" {
            guard let secret = Self.bytes("k", jwk) else { throw TokenKeyError(id, "its “k” is no URL-safe base64") }
            try self.init(algorithm, id: id, secret: Secret(secret))
            return
        }
        if let member = Self.privateMembers.first(where: { jwk[$0] != nil }) {
            throw TokenKeyError(id, "it holds the private member “\(member)”; publish the public key alone")
        }
        guard case .signature = algorithm.method else {
            throw TokenKeyError(id, "its “kty” does not fit its “alg”")
        }
        let key = try Self.publicKey(type, jwk, id)
        try self.init(algorithm, id: id, publicKey: key)
    }

    private static func checkUse(_ jwk: JSONValue, _ id: TokenKeyID?) throws(TokenKeyError) {
        switch jwk["use"] {
        case nil, .text("sig"): break
        default: throw TokenKeyError(id, "its “use” is not “sig”")
        }
        switch jwk["key_ops"] {
        case nil: break
        case .array(let operations) where operations.contains(.text("verify")): break
        default: throw TokenKeyError(id, "its “key_ops” have no “verify”")
        }
    }

    private static func publicKey(_ type: String, _ jwk: JSONValue, _ id: TokenKeyID?) throws(TokenKeyError)
        -> PublicKey
    {
        let numbers: PublicKey.Numbers?
        switch (type, jwk["crv"]?.text) {
        case ("RSA", _):
            // Refused by its size before anything is computed with it.
            if let modulus = bytes("n", jwk)?.drop(while: { $0 == 0 }), modulus.count < smallestRSA / 8 {
                throw TokenKeyError(id, "it has less than \(smallestRSA) bits")
            }
            numbers = bytes("n", jwk).flatMap { n in bytes("e", jwk).map { .rsa(modulus: n, exponent: $0) } }
        case ("EC", let name):
            guard let curve = name.flatMap({ EllipticCurve(rawValue: $0) }) else {
                throw TokenKeyError(id, "its “crv” is none of P-256, P-384 and P-521")
            }
            numbers = bytes("x", jwk).flatMap { x in bytes("y", jwk).map { .elliptic(curve, x: x, y: $0) } }
        case ("OKP", let name):
            guard name == "Ed25519" else { throw TokenKeyError(id, "its “crv” is not Ed25519") }
            numbers = bytes("x", jwk).map { .ed25519($0) }
        default:
            throw TokenKeyError(id, "its “kty” is none of oct, RSA, EC and OKP")
        }
        guard let numbers, let key = PublicKey(numbers) else {
            let isWeak = type == "OKP" && numbers != nil
            throw TokenKeyError(
                id, "its numbers are no key" + (isWeak ? ", or that of a point for which anybody can sign" : ""))
        }
        return key
    }

    /// The bytes of a member; `nil` unless it is URL-safe base64 of at least a byte.
    private static func bytes(_ member: String, _ jwk: JSONValue) -> [UInt8]? {
        guard let bytes = jwk[member]?.text.flatMap({ Base64URL.bytes(of: $0.utf8) }), !bytes.isEmpty else {
            return nil
        }
        return bytes
    }

    /// The key as an element of a key set, if it is a public one; `nil` for a secret, which nobody publishes.
    package var jwk: JSONValue? {
        guard let publicKey, let numbers = try? publicKey.numbers() else { return nil }
        var members: [String: JSONValue] = ["alg": .text(algorithm.rawValue), "use": .text("sig")]
        if let id { members["kid"] = .text(id.text) }
        switch numbers {
        case .rsa(let modulus, let exponent):
            members["kty"] = .text("RSA")
            members["n"] = .text(Base64URL.text(modulus))
            members["e"] = .text(Base64URL.text(exponent))
        case .elliptic(let curve, let x, let y):
            members["kty"] = .text("EC")
            members["crv"] = .text(curve.rawValue)
            members["x"] = .text(Base64URL.text(x))
            members["y"] = .text(Base64URL.text(y))
        case .ed25519(let bytes):
            members["kty"] = .text("OKP")
            members["crv"] = .text("Ed25519")
            members["x"] = .text(Base64URL.text(bytes))
        }
        return .object(members)
    }
}

extension KeySet {
    /// The set as a document for publishing: its public keys, and no secret.
    package var publicDocument: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(JSONValue.object(["keys": .array(keys.compactMap(\.jwk))]))) ?? Data()
    }
}
