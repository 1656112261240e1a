package import LatchkeyCore
import LatchkeyFairPlay

/// The topmost key: it wraps one data key per tenant, and nothing else.
///
/// It comes from a file, the environment or hardware. A new one rewraps data keys; sealed rows stay as they are.
///
/// Source: `Documentation/LicenseServer.md` §8.2.
package struct KeyEncryptionKey: Sendable {
    /// The key's name, which a wrapped data key stores.
    package let id: String
    private let key: Secret

    /// - Parameters:
    ///   - id: the key's name; not a secret, not empty.
    ///   - key: 32 random bytes.
    /// - Throws: `keyEncryptionKeyUnusable`.
    package init(id: String, key: Secret) throws(VaultError) {
        guard !id.isEmpty, key.count == AESGCM.keyCount else {
            throw VaultError.protection(
                .keyEncryptionKeyUnusable,
                reason: "The key encryption key “\(id.onOneLine.prefix(60))” has \(key.count) bytes.",
                remedy: "Give it a name and 32 random bytes.")
        }
        self.id = id
        self.key = key
    }

    /// Whether another one has the same bytes.
    /// - Throws: `cryptography`.
    package func isSame(as other: KeyEncryptionKey) throws(VaultError) -> Bool {
        try secret(for: "latchkey/kek/same") == other.secret(for: "latchkey/kek/same")
    }

    /// A secret for another purpose, derived from this key: the HMAC-SHA-256 of a label, 32 bytes.
    /// - Throws: `cryptography`.
    package func secret(for label: String) throws(VaultError) -> Secret {
        do {
            return try key.withUnsafeBytes { key throws(OpenSSLError) in
                Secret(try MessageDigest.hmacSHA256(key: key, Array(label.utf8)))
            }
        } catch { throw VaultError(error) }
    }

    /// Wraps a tenant's data key.
    /// - Throws: `cryptography`.
    package func wrap(
        _ dataKey: DataKey, using generator: inout some RandomNumberGenerator
    ) throws(VaultError) -> WrappedDataKey {
        let nonce = generator.bytes(AESGCM.nonceCount)
        let context = WrappedDataKey.context(tenant: dataKey.tenant, version: dataKey.version, wrapper: id)
        do {
            let wrapped = try AESGCM.seal(dataKey.key, key: key, nonce: nonce, context: context)
            return WrappedDataKey(
                tenant: dataKey.tenant, version: dataKey.version, wrapper: id, nonce: nonce, wrapped: wrapped)
        } catch { throw VaultError(error) }
    }

    /// Opens a tenant's data key.
    /// - Throws: `anotherKey` if another key wrapped it, `doesNotOpen`, `cryptography`.
    package func unwrap(_ row: WrappedDataKey) throws(VaultError) -> DataKey {
        guard row.wrapper.equalsByteForByte(id) else {
            throw VaultError.protection(
                .anotherKey,
                reason: "The data key is wrapped by “\(row.wrapper.onOneLine.prefix(60))”, not by this key.",
                remedy:
                    "Configure the key encryption key of that name as keyEncryptionKey, formerKeyEncryptionKey or nextKeyEncryptionKey."
            )
        }
        let opened: Secret?
        do {
            opened = try AESGCM.open(
                row.wrapped, key: key, nonce: row.nonce,
                context: WrappedDataKey.context(tenant: row.tenant, version: row.version, wrapper: row.wrapper))
        } catch { throw VaultError(error) }
        guard let opened, opened.count == AESGCM.keyCount else {
            throw VaultError.protection(
                .doesNotOpen, reason: "Data key \(row.version) cannot be opened.",
                remedy: "Check that the row was not changed or moved, and that the key encryption key is the right one."
            )
        }
        return DataKey(tenant: row.tenant, version: row.version, key: opened)
    }

    /// Wraps a tenant's data key again, with a new key. Rows that the data key sealed stay as they are.
    /// - Throws: the errors of `unwrap` and `wrap`.
    package func rewrap(
        _ row: WrappedDataKey, with new: KeyEncryptionKey, using generator: inout some RandomNumberGenerator
    ) throws(VaultError) -> WrappedDataKey {
        try new.wrap(try unwrap(row), using: &generator)
    }
}

/// A tenant's data key as a store holds it.
public struct WrappedDataKey: Sendable, Hashable, Codable {
    /// The tenant's name.
    public let tenant: String
    /// The data key's version.
    public let version: UInt32
    /// The name of the key encryption key.
    public let wrapper: String
    /// 12 bytes.
    public let nonce: [UInt8]
    /// Ciphertext and tag, 48 bytes.
    public let wrapped: [UInt8]

    /// A row as read from a store.
    public init(tenant: String, version: UInt32, wrapper: String, nonce: [UInt8], wrapped: [UInt8]) {
        self.tenant = tenant
        self.version = version
        self.wrapper = wrapper
        self.nonce = nonce
        self.wrapped = wrapped
    }

    static func context(tenant: String, version: UInt32, wrapper: String) -> [UInt8] {
        var context = SealingContext("latchkey/dek/1")
        context.append(tenant.utf8)
        context.append(version.bytes)
        context.append(wrapper.utf8)
        return context.bytes
    }
}
