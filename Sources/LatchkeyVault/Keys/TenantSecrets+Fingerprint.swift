package import LatchkeyCore
import LatchkeyFairPlay

/// The fingerprint of a key's bytes, for the audit.
extension TenantSecrets {
    /// The fingerprint of a key and its IV in the audit: 16 hexadecimal digits of an HMAC under a secret that the tenant's first data
    /// key makes, which is permanent. Without that data key they reveal nothing about the bytes.
    /// - Throws: `tenantMissing`, `protection`.
    package func fingerprint(of key: ContentKey, _ kid: KeyID) throws(VaultError) -> String {
        guard let oldest else { throw .tenantMissing(tenant) }
        var message: [UInt8] = []
        message.reserveCapacity(48)
        defer { erase(&message) }
        message.append(contentsOf: kid.bytes)
        key.key.withUnsafeBytes { message.append(contentsOf: $0) }
        key.iv.withUnsafeBytes { message.append(contentsOf: $0) }
        do throws(OpenSSLError) {
            let secret = try HKDF.sha256(
                oldest.key, salt: Array(tenant.utf8), info: Array("latchkey/key-fingerprint/1".utf8), count: 32)
            let digest = try secret.withUnsafeBytes { secret throws(OpenSSLError) in
                try MessageDigest.hmacSHA256(key: secret, message)
            }
            return digest.prefix(8).hexString
        } catch { throw VaultError(error) }
    }
}
