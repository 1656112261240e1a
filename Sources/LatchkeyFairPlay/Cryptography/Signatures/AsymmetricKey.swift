internal import COpenSSL
import LatchkeyCore

/// A libcrypto public key or key pair, parsed once.
// Sound because the key never changes after it is made; libcrypto locks its caches in it. `TokenVerifierTests` verifies on many
// tasks.
final class AsymmetricKey: @unchecked Sendable {
    private let pointer: OpaquePointer
    let kind: PublicKey.Kind

    /// Takes ownership of a key. The result is `nil`, and the key is freed, unless it is RSA, Ed25519, or EC on a known curve.
    init?(adopting pointer: OpaquePointer?) {
        guard let pointer else {
            OpenSSLError.discardQueue()
            return nil
        }
        guard let kind = Self.kind(of: pointer) else {
            EVP_PKEY_free(pointer)
            OpenSSLError.discardQueue()
            return nil
        }
        self.pointer = pointer
        self.kind = kind
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Calls a closure with libcrypto's key.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        defer { withExtendedLifetime(self) {} }
        return body(pointer)
    }

    /// The length of a signature in bytes; `nil` for a scheme that the key cannot use.
    func signatureCount(_ scheme: SignatureScheme) -> Int? {
        switch (kind, scheme) {
        case (.rsa(let bits), .rsaPKCS1), (.rsa(let bits), .rsaPSS): (bits + 7) / 8
        case (.elliptic(let curve), .ecdsa(let wanted, _)) where curve == wanted: 2 * curve.coordinateCount
        case (.ed25519, .ed25519): 64
        default: nil
        }
    }

    private static func kind(of key: OpaquePointer) -> PublicKey.Kind? {
        if latchkey_is_rsa(key) == 1 { return .rsa(bits: Int(EVP_PKEY_get_bits(key))) }
        if latchkey_is_a(key, "ED25519") == 1 { return .ed25519 }
        guard latchkey_is_a(key, "EC") == 1 else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
        let group = String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return EllipticCurve.allCases.first { $0.groupName == group }.map { .elliptic($0) }
    }
}

extension SHA2 {
    /// libcrypto's hash algorithm; `nil` if it could not be fetched.
    var algorithm: OpaquePointer? {
        switch self {
        case .sha256: Self.fetched256
        case .sha384: Self.fetched384
        case .sha512: Self.fetched512
        }
    }

    // Fetched once, because each implicit fetch takes a lock. Sound because a fetched algorithm is immutable.
    nonisolated(unsafe) private static let fetched256 = EVP_MD_fetch(nil, "SHA256", nil)
    nonisolated(unsafe) private static let fetched384 = EVP_MD_fetch(nil, "SHA384", nil)
    nonisolated(unsafe) private static let fetched512 = EVP_MD_fetch(nil, "SHA512", nil)
}
