import LatchkeyStores
import LatchkeySystem
public import LatchkeyVault

/// Stores of an embedding program, in place of those that the configuration names.
///
/// A store answers within the time that the policy of an outage allows for, and says with a `StoreError` that it cannot. The server asks it
/// beside requests whether it answers, and shows that in readiness, log, metrics and console by the store's `engine`. The program closes it
/// after ``LicenseServer/run()``.
public struct ServerStores: Sendable {
    /// Accounts with their sessions, and used tokens. Defaults to the engine that `stores.sessions` names.
    public var sessions: (any RecordStore)?
    /// Sealed content keys, seeds and data keys. Defaults to the engine that `stores.keys` names.
    ///
    /// `keyEncryptionKey` of the configuration seals what it gets, and ``LicenseServer/createTenant(_:configuration:stores:)`` makes a tenant's.
    /// The server reads again every half minute what other nodes changed.
    public var keys: (any KeyStore)?
    /// The audit. Defaults to the engine that `stores.audit` names.
    public var audit: (any AuditStore)?

    /// - Parameters: as the properties say.
    public init(
        sessions: (any RecordStore)? = nil, keys: (any KeyStore)? = nil, audit: (any AuditStore)? = nil
    ) {
        self.sessions = sessions
        self.keys = keys
        self.audit = audit
    }
}

extension Stores {
    /// A store of keys that the embedding program closes.
    init(_ keys: any KeyStore) {
        self.init(
            records: MemoryRecordStore(), keys: keys,
            probe: { () throws(StoreError) in _ = try await keys.fingerprint() })
    }

    /// A store of the audit that the embedding program closes.
    init(_ audit: any AuditStore) {
        self.init(
            records: MemoryRecordStore(), audit: audit, probe: { () throws(StoreError) in _ = try await audit.last() })
    }
}
