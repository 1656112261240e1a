import LatchkeyStores
import LatchkeySystem
public import LatchkeyVault

/// An embedding program's stores, which replace the configuration's.
///
/// A store answers within the time that the outage policy allows, or throws a `StoreError`. In the background, the server probes each
/// kind of work without changing data: it writes a short-lived record, reseals no keys, and appends an audit entry with an invalid
/// number. Readiness, log, metrics and console show the outcome under the store's `engine`. The program closes the store after
/// ``LicenseServer/run()``.
public struct ServerStores: Sendable {
    /// Accounts with their sessions, and used tokens. Defaults to the engine that `stores.sessions` names.
    public var sessions: (any RecordStore)?
    /// Sealed content keys, seeds and data keys. Defaults to the engine that `stores.keys` names.
    ///
    /// The configuration's `keyEncryptionKey` seals the store's contents, and ``LicenseServer/createTenant(_:configuration:stores:)`` creates a
    /// tenant's keys. The server reloads other nodes' changes every half minute.
    public var keys: (any KeyStore)?
    /// The audit. Defaults to the engine that `stores.audit` names.
    public var audit: (any AuditStore)?

    /// - Parameters: the properties.
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
