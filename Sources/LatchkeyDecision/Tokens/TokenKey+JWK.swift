package import Foundation
import LatchkeyCore
import LatchkeyFairPlay
package import LatchkeyForms

/// Reading and writing JSON web keys.
///
/// Source: RFC 7517 §4; RFC 7518 §6; RFC 8037 §2.
extension TokenKey {
    /// Members that only a private key has.
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth"]

    /// Reads a JSON web key.
    /// - Parameter taken: the algorithms that the tenant takes; empty for all.
    /// - Throws: `KeySetError` for a key whose algorithm is unknown, does not fit it, or is not accepted, and for a key that is weak, is
    ///   not for verifying, or is private.
    init(jwk: JSONValue, of taken: [TokenAlgorithm] = []) throws(KeySetError) {
        guard case .object = jwk else { throw KeySetError(nil, "it is not a JSON object") }
        var id: TokenKeyID?
        if let name = jwk["kid"] {
            guard case .text(let text) = name, let read = TokenKeyID(text) else {
                throw KeySetError(nil, "its “kid” is not text of 1 to \(TokenKeyID.limit) bytes")
            }
            id = read
        }
        try Self.checkUse(jwk, id)
        guard case .text(let type)? = jwk["kty"] else { throw KeySetError(id, "it has no “kty”") }
        let stated = try Self.statedAlgorithm(jwk, id)
        if type == "oct" {
            let algorithm = if let stated { stated } else { try Self.secretAlgorithm(taken, id) }
            try algorithm.check(isAmong: taken, id)
            guard let secret = Self.bytes("k", jwk) else { throw KeySetError(id, "its “k” is not URL-safe base64") }
            try self.init(algorithm, id: id, secret: Secret(secret))
            return
        }
        if let member = Self.privateMembers.first(where: { jwk[$0] != nil }) {
            throw KeySetError(
                id, "it holds the private member “\(member)”",
                remedy: "Publish only the public key, of a new pair: anyone who has read this one can sign.")
        }
        if let stated, case .hmac = stated.method { throw KeySetError(id, "its “kty” does not fit its “alg”") }
        let key = try Self.publicKey(type, jwk, id)
        try self.init(key, id: id, stated: stated, of: taken)
    }

    /// A public key with the algorithm that it states; without one, with that of its kind, and RSA with the accepted ones, else with RS256,
    /// which issuers that state none use.
    init(
        _ key: PublicKey, id: TokenKeyID?, stated: TokenAlgorithm?, of taken: [TokenAlgorithm]
    ) throws(KeySetError) {
        if let algorithm = stated ?? key.kind.algorithm {
            try algorithm.check(isAmong: taken, id)
            try self.init(algorithm, id: id, publicKey: key)
            return
        }
        let fitting = taken.isEmpty ? [.rs256] : taken.filter { $0.takes(key.kind) }
        guard let first = fitting.first else {
            throw KeySetError(
                id, "it is RSA without an “alg”, and the tenant has no RSA algorithm",
                remedy: "Add RS256 or PS256 to tokens.algorithms, whichever the issuer uses.")
        }
        try self.init(first, id: id, publicKey: key, others: fitting)
    }

    private static func statedAlgorithm(_ jwk: JSONValue, _ id: TokenKeyID?) throws(KeySetError) -> TokenAlgorithm? {
        guard let stated = jwk["alg"] else { return nil }
        guard let algorithm = stated.text.flatMap({ TokenAlgorithm(name: $0) }) else {
            throw KeySetError(
                id, "its “alg” is not supported for tokens",
                remedy: "Sign with one of \(TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return algorithm
    }

    /// The algorithm of a secret that states none: only the tenant can say it.
    private static func secretAlgorithm(
        _ taken: [TokenAlgorithm], _ id: TokenKeyID?
    ) throws(KeySetError) -> TokenAlgorithm {
        let fitting = taken.filter { if case .hmac = $0.method { true } else { false } }
        guard let first = fitting.first, fitting.count == 1 else {
            throw KeySetError(
                id, "it has no “alg”, which a secret key needs",
                remedy: "State its “alg”, or one of HS256, HS384 and HS512 in tokens.algorithms.")
        }
        return first
    }

    private static func checkUse(_ jwk: JSONValue, _ id: TokenKeyID?) throws(KeySetError) {
        switch jwk["use"] {
        case nil, .text("sig"): break
        default: throw KeySetError(id, "its “use” is not “sig”")
        }
        switch jwk["key_ops"] {
        case nil: break
        case .array(let operations) where operations.contains(.text("verify")): break
        default: throw KeySetError(id, "its “key_ops” do not include “verify”")
        }
    }

    private static func publicKey(_ type: String, _ jwk: JSONValue, _ id: TokenKeyID?) throws(KeySetError)
        -> PublicKey
    {
        for member in ["n", "e", "x", "y"] where jwk[member] != nil && bytes(member, jwk) == nil {
            throw KeySetError(
                id, "its “\(member)” is not URL-safe base64",
                remedy: "Write it with - and _ instead of + and /, and without =, as RFC 7515 §2 requires.")
        }
        let numbers: PublicKey.Numbers?
        switch (type, jwk["crv"]?.text) {
        case ("RSA", _):
            // Refused by its size before anything is computed with it.
            if let modulus = bytes("n", jwk)?.drop(while: { $0 == 0 }), modulus.count < smallestRSA / 8 {
                throw KeySetError(id, "it has fewer than \(smallestRSA) bits", remedy: .largerRSA)
            }
            numbers = bytes("n", jwk).flatMap { n in bytes("e", jwk).map { .rsa(modulus: n, exponent: $0) } }
        case ("EC", let name):
            guard let curve = name.flatMap({ EllipticCurve(rawValue: $0) }) else {
                throw KeySetError(id, "its “crv” is not P-256, P-384 or P-521")
            }
            numbers = bytes("x", jwk).flatMap { x in bytes("y", jwk).map { .elliptic(curve, x: x, y: $0) } }
        case ("OKP", let name):
            guard name == "Ed25519" else { throw KeySetError(id, "its “crv” is not Ed25519") }
            numbers = bytes("x", jwk).map { .ed25519($0) }
        default:
            throw KeySetError(id, "its “kty” is not oct, RSA, EC or OKP")
        }
        guard let numbers, let key = PublicKey(numbers) else {
            let isWeak = type == "OKP" && numbers != nil
            throw KeySetError(
                id, "its numbers do not form a key" + (isWeak ? ", or form a point for which anyone can sign" : ""))
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

    /// The key as an element of a key set, if it is a public one; `nil` for a secret, which is never published.
    package var jwk: JSONValue? {
        guard let publicKey, let numbers = try? publicKey.numbers() else { return nil }
        var members: [String: JSONValue] = ["use": .text("sig")]
        // A key for several algorithms states none, and its reader's list decides as this one's did.
        if algorithms.count == 1 { members["alg"] = .text(algorithm.rawValue) }
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

extension TokenAlgorithm {
    /// - Parameter taken: the algorithms that a tenant takes; empty for all.
    fileprivate func check(isAmong taken: [TokenAlgorithm], _ id: TokenKeyID?) throws(KeySetError) {
        guard taken.isEmpty || taken.contains(self) else {
            throw KeySetError(
                id, "it is for \(rawValue), which is not one of the tenant's algorithms",
                remedy: "Add \(rawValue) to tokens.algorithms, or remove the key.")
        }
    }
}

extension PublicKey.Kind {
    /// The one algorithm of such a key; `nil` for RSA, which has several.
    fileprivate var algorithm: TokenAlgorithm? {
        switch self {
        case .rsa: nil
        case .elliptic(.p256): .es256
        case .elliptic(.p384): .es384
        case .elliptic(.p521): .es512
        case .ed25519: .edDSA
        }
    }
}

extension KeySet {
    /// The set as a document for publishing: its public keys, and no secret.
    package var publicDocument: Data {
        Data(JSONValue.object(["keys": .array(keys.compactMap(\.jwk))]).canonicalText.utf8)
    }
}
