public import LatchkeyCore

/// A key as a store holds it: sealed, and bound to its place.
///
/// AES-256-GCM; the tenant, the kid, the purpose and the data key's version are authenticated with their lengths, so that a row
/// copied to another place cannot be opened.
///
/// Source: `Documentation/LicenseServer.md` §8.2.
public struct SealedKey: Sendable, Hashable {
    /// The kind and the name of the sealed data.
    public enum Subject: Sendable, Hashable {
        /// A content key with its IV, 32 bytes.
        case contentKey(KeyID)
        /// A seed from which content keys are derived.
        case seed(SeedVersion)
    }

    /// The tenant's name.
    public var tenant: String
    /// The kind and the name of the sealed data.
    public var subject: Subject
    /// The version of the data key.
    public var dataKey: UInt32
    /// 12 bytes.
    public var nonce: [UInt8]
    /// Ciphertext and tag, 16 bytes longer than the secret.
    public var sealed: [UInt8]

    /// A row as read from a store.
    public init(tenant: String, subject: Subject, dataKey: UInt32, nonce: [UInt8], sealed: [UInt8]) {
        self.tenant = tenant
        self.subject = subject
        self.dataKey = dataKey
        self.nonce = nonce
        self.sealed = sealed
    }

    static func context(tenant: String, subject: Subject, dataKey: UInt32) -> [UInt8] {
        var context = SealingContext("latchkey/key/1")
        context.append(tenant.utf8)
        switch subject {
        case .contentKey(let kid):
            context.append(kid.bytes)
            context.append("content-key".utf8)
        case .seed(let version):
            context.append(version.number.bytes)
            context.append("seed".utf8)
        }
        context.append(dataKey.bytes)
        return context.bytes
    }
}

extension SealedKey.Subject: CustomStringConvertible {
    public var description: String {
        switch self {
        case .contentKey(let kid): "content key \(kid)"
        case .seed(let version): "seed \(version.number)"
        }
    }
}
