package import LatchkeyCore
package import LatchkeyFairPlay
package import LatchkeySystem

/// Why a vault gives no key, or why a key could not be made, sealed or opened. Names keys and versions, never their bytes.
package enum VaultError: DiagnosableError, Equatable {
    /// The tenant has no such key.
    case unknown(KeyID)
    /// The key exists but is disabled.
    case disabled(KeyID)
    /// The content has several keys, and a request names none of them.
    case severalKeys(ContentName)
    /// The key encrypts another content, and each kid belongs to one key.
    case anotherContent(KeyID)
    /// The encryptor chose another IV than the key has.
    case anotherIV(KeyID)
    /// The key's IV, which a FairPlay license has to carry, was not stated.
    case ivMissing(KeyID)
    /// The key changed while it was replaced or removed.
    case changedMeanwhile(KeyID)
    /// The tenant has reached its limit of keys.
    case tooMany(limit: Int)
    /// The tenant has keys in the store, and no seed or no data key: a part of the store is lost.
    case secretsLost(String)
    /// The tenant has no data key or no seed in the store: it was not created, or not in this store.
    case tenantMissing(String)
    /// The store does not answer, and neither memory nor derivation helps.
    case store(StoreError)
    /// Something does not open, or cannot be made or sealed. The reason is without secrets; the remedy is one imperative sentence.
    case protection(Protection, reason: String, remedy: String)

    /// The kinds of failure of seeds, seals and cryptography. Names are stable.
    package enum Protection: String, Sendable {
        /// No tenant, a seed that is too short, or a missing current version.
        case seedsUnusable
        /// A key was made with a seed that is not configured.
        case seedUnknown
        /// A key encryption key without a name, or not 32 bytes long.
        case keyEncryptionKeyUnusable
        /// Something is sealed with a different key.
        case anotherKey
        /// Key, place or bytes differ from when it was sealed.
        case doesNotOpen
        /// A data key has reached its limit of seals.
        case dataKeyExhausted
        /// The key source has no key for an address.
        case keyMissing
        /// The cryptography library failed.
        case cryptography
    }

    /// The kind of failure of seeds, seals or cryptography; `nil` for every other error.
    package var kind: Protection? {
        guard case .protection(let kind, _, _) = self else { return nil }
        return kind
    }

    package init(_ error: OpenSSLError) {
        self = .protection(.cryptography, reason: error.reason, remedy: error.remedy)
    }

    package var code: String {
        switch self {
        case .unknown: "keyUnknown"
        case .disabled: "keyDisabled"
        case .severalKeys: "contentHasSeveralKeys"
        case .anotherContent: "keyOfAnotherContent"
        case .anotherIV: "keyHasAnotherIV"
        case .ivMissing: "keyWithoutIV"
        case .changedMeanwhile: "keyChangedMeanwhile"
        case .tooMany: "tenantKeyLimit"
        case .secretsLost: "tenantKeysLost"
        case .tenantMissing: "tenantKeysMissing"
        case .store(let error): error.code
        case .protection(let kind, _, _): kind.rawValue
        }
    }

    package var reason: String {
        switch self {
        case .unknown(let kid): "There is no key \(kid)."
        case .disabled(let kid): "Key \(kid) is disabled."
        case .severalKeys(let content): "The content “\(content)” has several keys, and the request does not name one."
        case .anotherContent(let kid): "Key \(kid) belongs to different content."
        case .anotherIV(let kid): "The IV of key \(kid) differs from the request's."
        case .ivMissing(let kid): "The IV of key \(kid) is unknown: the store has none, or 16 zeros."
        case .changedMeanwhile(let kid): "Another client changed key \(kid) at the same time."
        case .tooMany(let limit): "The tenant has reached its limit of \(limit) keys."
        case .secretsLost(let tenant):
            "The store has keys of the tenant “\(tenant.onOneLine)” but not their data key or seed."
        case .tenantMissing(let tenant): "The store has no data key or no seed of the tenant “\(tenant.onOneLine)”."
        case .store(let error): error.reason
        case .protection(_, let reason, _): reason
        }
    }

    package var remedy: String {
        switch self {
        case .unknown: "Package the content again, or import its keys."
        case .disabled: "Enable it again, or package the content with another key."
        case .severalKeys: "Package the content with one key, or with key URIs that name the key."
        case .anotherContent: "Use different kids for different content."
        case .anotherIV: "Send no IV, the key's IV, or a new kid."
        case .ivMissing(let kid):
            "Replace the key with a CPIX document that states the media's IV: POST /admin/v1/tenants/TENANT/cpix?replace=\(kid)."
        case .changedMeanwhile: "Check the key, and try again."
        case .tooMany: "Remove keys, or ask the server's operator to raise the tenant's limit."
        case .secretsLost: "Restore the whole store from a backup, or configure the right store."
        case .tenantMissing:
            "Create the tenant with latchkey-server tenant create NAME --config FILE, or configure the right store."
        case .store(let error): error.remedy
        case .protection(_, _, let remedy): remedy
        }
    }

    /// Whether the request is at fault, so that a retry fails, too.
    package var isConflict: Bool {
        switch self {
        case .unknown, .disabled, .severalKeys, .anotherContent, .anotherIV, .ivMissing, .changedMeanwhile, .tooMany:
            true
        case .tenantMissing, .secretsLost, .store, .protection: false
        }
    }

    /// Asks a store, and converts its errors to this type.
    static func asking<Answer>(
        _ body: () async throws(StoreError) -> Answer
    ) async throws(VaultError) -> Answer {
        do { return try await body() } catch { throw .store(error) }
    }
}
