import LatchkeyStores
import LatchkeySystem
public import LatchkeyVault

/// Stores of an embedding program, in place of those that the configuration names.
///
/// A store answers within the time that the policy of an outage allows for, and says with a `StoreError` that it cannot. The server tries its
/// work beside requests in a form that changes nothing: it writes a record of its own that soon ends, reseals no keys, and adds an entry whose
/// number does not follow. It shows the outcome in readiness, log, metrics and console by the store's `engine`. The program closes it after
/// ``LicenseServer/run()``.
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
            probe: { _, operation throws(StoreError) in
                if operation == .write { _ = try await keys.reseal([]) } else { _ = try await keys.fingerprint() }
            })
    }

    /// A store of the audit that the embedding program closes.
    init(_ audit: any AuditStore) {
        self.init(
            records: MemoryRecordStore(), audit: audit,
            probe: { _, _ throws(StoreError) in
                // The number of no entry: nothing is added.
                let zeros = [UInt8](repeating: 0, count: 32)
                _ = try await audit.append(AuditEntry(sequence: 0, text: "", previous: zeros, hash: zeros))
            })
    }
}
