package import LatchkeyCore
import LatchkeyFairPlay

/// A tenant's data key, open: it seals and opens rows.
///
/// Counts its seals: random nonces of 12 bytes are safe for 2³² of them. The count covers this process only; operators replace data
/// keys long before.
///
/// Source: `Documentation/LicenseServer.md` §8.2.
package final class DataKey: Sendable {
    /// The most seals of one data key.
    package static let sealLimit: UInt64 = 1 << 32

    /// The tenant's name.
    package let tenant: String
    /// The version, which each sealed row remembers.
    package let version: UInt32
    let key: Secret
    private let seals: Locked<UInt64>

    /// A new data key.
    /// - Parameters:
    ///   - tenant: the tenant's name.
    ///   - version: the version, higher than all earlier ones.
    ///   - generator: the source of the 32 bytes.
    package convenience init(tenant: String, version: UInt32, using generator: inout some RandomNumberGenerator) {
        var bytes = generator.bytes(AESGCM.keyCount)
        defer { erase(&bytes) }
        self.init(tenant: tenant, version: version, key: Secret(bytes))
    }

    init(tenant: String, version: UInt32, key: Secret, sealed: UInt64 = 0) {
        self.tenant = tenant
        self.version = version
        self.key = key
        seals = Locked(sealed)
    }

    /// Seals a secret for its place.
    /// - Throws: `dataKeyExhausted`, `cryptography`.
    package func seal(
        _ secret: Secret, as subject: SealedKey.Subject, using generator: inout some RandomNumberGenerator
    ) throws(VaultError) -> SealedKey {
        let isAllowed = seals.withLock { seals in
            guard seals < Self.sealLimit else { return false }
            seals += 1
            return true
        }
        guard isAllowed else {
            throw VaultError.protection(
                .dataKeyExhausted, reason: "Data key \(version) has reached its limit of sealings.",
                remedy: "Create a new data key and reseal its rows.")
        }
        let nonce = generator.bytes(AESGCM.nonceCount)
        let context = SealedKey.context(tenant: tenant, subject: subject, dataKey: version)
        do {
            let sealed = try AESGCM.seal(secret, key: key, nonce: nonce, context: context)
            return SealedKey(tenant: tenant, subject: subject, dataKey: version, nonce: nonce, sealed: sealed)
        } catch { throw VaultError(error) }
    }

    /// Opens a sealed row.
    /// - Throws: `anotherKey` for a row of another tenant or version, `doesNotOpen`, `cryptography`.
    package func open(_ row: SealedKey) throws(VaultError) -> Secret {
        guard row.tenant.equalsByteForByte(tenant), row.dataKey == version else {
            throw VaultError.protection(
                .anotherKey, reason: "The row is sealed by data key \(row.dataKey) of its tenant, not by this one.",
                remedy: "Open it with the data key of its tenant and version.")
        }
        let opened: Secret?
        do {
            opened = try AESGCM.open(
                row.sealed, key: key, nonce: row.nonce,
                context: SealedKey.context(tenant: row.tenant, subject: row.subject, dataKey: row.dataKey))
        } catch { throw VaultError(error) }
        guard let opened else {
            throw VaultError.protection(
                .doesNotOpen, reason: "The sealed \(row.subject) cannot be opened.",
                remedy: "Check that the row was not changed or moved.")
        }
        return opened
    }

    /// Seals a content key: 16 bytes of key, 16 of IV.
    /// - Throws: the errors of `seal`.
    package func seal(
        _ content: ContentKey, kid: KeyID, using generator: inout some RandomNumberGenerator
    ) throws(VaultError) -> SealedKey {
        let both = ErasedBytes(count: 32)
        both.write(0..<16) { target in content.key.withUnsafeBytes { target.copyMemory(from: $0) } }
        both.write(16..<32) { target in content.iv.withUnsafeBytes { target.copyMemory(from: $0) } }
        return try seal(both.read(0..<32) { Secret($0) }, as: .contentKey(kid), using: &generator)
    }

    /// Opens a content key.
    /// - Throws: the errors of `open`; `doesNotOpen` for a row without a content key.
    package func contentKey(_ row: SealedKey) throws(VaultError) -> ContentKey {
        let opened = try open(row)
        let parts = opened.withUnsafeBytes { bytes in (Secret(bytes.prefix(16)), Secret(bytes.dropFirst(16))) }
        guard case .contentKey = row.subject, let content = ContentKey(key: parts.0, iv: parts.1) else {
            throw VaultError.protection(
                .doesNotOpen, reason: "The sealed \(row.subject) is not a content key.", remedy: "Open another row.")
        }
        return content
    }
}
