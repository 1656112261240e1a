import Foundation
import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

/// The purpose of opening a store.
package enum StorePurpose: Sendable, Hashable {
    /// To serve: missing parts are made.
    case serving
    /// To check whether serving would work: nothing is made or changed.
    case checking
}

/// An engine's stores, once it is open.
///
/// Source: `Documentation/LicenseServer.md` §7.4.
package struct Stores: Sendable {
    package let records: any RecordStore
    /// The same records for operators, on separate connections if it has any.
    package let operatorRecords: any RecordStore
    /// How often nodes of a cluster redirected a request or put it off, since the start.
    package let redirections: @Sendable () -> [ClusterRedirection: UInt64]
    /// `nil` for an engine that keeps records only.
    package let keys: (any KeyStore)?
    /// `nil` for an engine that keeps records only.
    package let audit: (any AuditStore)?
    /// Changes of keys by other nodes; `nil` for an engine of one node.
    package let changes: (@Sendable () throws(StoreError) -> AsyncStream<KeyChange>)?
    /// Does a kind of work with keys or audit in a form that changes nothing.
    package let probe: @Sendable (EngineRole, EngineOperation) async throws(StoreError) -> Void
    /// Ends threads and connections.
    package let close: @Sendable () -> Void
    /// Ends threads and connections, and waits until files are closed.
    package let closed: @Sendable () async -> Void

    /// - Parameters: see the properties.
    package init(
        records: any RecordStore, operatorRecords: (any RecordStore)? = nil,
        redirections: @escaping @Sendable () -> [ClusterRedirection: UInt64] = { [:] }, keys: (any KeyStore)? = nil,
        audit: (any AuditStore)? = nil,
        changes: (@Sendable () throws(StoreError) -> AsyncStream<KeyChange>)? = nil,
        probe: @escaping @Sendable (EngineRole, EngineOperation) async throws(StoreError) -> Void = { _, _ in },
        close: @escaping @Sendable () -> Void = {}, closed: (@Sendable () async -> Void)? = nil
    ) {
        self.records = records
        self.operatorRecords = operatorRecords ?? records
        self.redirections = redirections
        self.keys = keys
        self.audit = audit
        self.changes = changes
        self.probe = probe
        self.close = close
        self.closed = closed ?? { close() }
    }

    /// Opens an engine.
    /// - Parameters:
    ///   - address: the store's address. A file gets its tables; a database needs a migration first.
    ///   - limits: PostgreSQL's other limits. Defaults to its own.
    ///   - recordLimit: how long PostgreSQL or Redis may take for a record. Defaults to 50 ms.
    ///   - mayBeAway: whether a database that does not answer is tried again later. Defaults to no.
    ///   - purpose: whether a file may be made or changed. Defaults to yes.
    /// - Throws: `StoreError`, without a part of the address.
    package static func open(
        _ address: StoreAddress, limits: PostgreSQLStore.Settings = .init(),
        recordLimit: Duration = RecordStoreLimits().time, mayBeAway: Bool = false,
        for purpose: StorePurpose = .serving
    ) async throws(StoreError) -> Stores {
        switch address {
        case .memory: return Stores(records: MemoryRecordStore())
        case .sqlite(let path):
            // As empty as the file would be.
            let empty = Stores(records: MemoryRecordStore(), keys: MemorySealedKeyStore(), audit: MemoryAuditStore())
            if purpose == .checking, !FileManager.default.fileExists(atPath: path) {
                try SQLiteFile.checkFolder(of: path)
                return empty
            }
            let store = try SQLiteStore(path: path, for: purpose)
            if purpose == .checking, try await !store.hasTables() {
                store.close()
                return empty
            }
            return Stores(
                records: store, keys: store, audit: store,
                probe: { _, operation throws(StoreError) in try await store.probe(operation) },
                close: { store.close() }, closed: { await store.closed() })
        case .postgresql(let address):
            var settings = limits
            settings.recordLimit = recordLimit
            let store = try await PostgreSQLStore.open(address, settings, mayBeAway: mayBeAway)
            return Stores(
                records: store, keys: store, audit: store, changes: { () throws(StoreError) in try store.changes() },
                probe: { role, operation throws(StoreError) in try await store.probe(role, operation) },
                close: { store.close() })
        case .redis(let address):
            let address = try RedisAddress(address)
            let store = try RedisRecordStore(address, replicas: address.replicas, limit: recordLimit)
            return Stores(
                records: store, operatorRecords: store.forOperators, redirections: { store.redirections })
        }
    }

    /// Makes a database's tables, or adds missing parts. A second time changes nothing.
    /// - Parameters:
    ///   - address: a database, with the role that owns the tables.
    ///   - role: the servers' role, which gets the rights that it needs; `nil` grants nothing.
    ///   - retention: which days of the record stay there, whatever a server wants. Defaults to the previous setting, or all.
    /// - Returns: the database's fingerprint.
    /// - Throws: `StoreError`, without a part of the address; `storeMisconfigured` if the role lacks the rights.
    @discardableResult
    package static func migrate(
        _ address: StoreAddress, granting role: String? = nil, keeping retention: RecordRetention = .asBefore
    ) async throws(StoreError) -> DatabaseFingerprint? {
        // Files and memory need no migration.
        guard case .postgresql(let address) = address else { return nil }
        let store = try await PostgreSQLStore.open(address, migrates: true, granting: role, keeping: retention)
        defer { store.close() }
        return try await store.fingerprint()
    }
}

extension Stores {
    /// The sessions of several regions.
    /// - Parameter regions: the stores by their regions' names. The result is `nil` if there are none.
    package init?(regions: [String: Stores]) {
        guard let records = RegionalRecordStore(regions.mapValues(\.records)),
            let operatorRecords = RegionalRecordStore(regions.mapValues(\.operatorRecords))
        else { return nil }
        self.init(
            records: records, operatorRecords: operatorRecords,
            redirections: { regions.values.reduce(into: [:]) { $0.merge($1.redirections(), uniquingKeysWith: +) } })
    }
}

/// The days of the record that stay in its database, whatever a server wants.
package enum RecordRetention: Sendable, Hashable {
    /// The previously set days.
    case asBefore
    case all
    /// At least this many, including today.
    case days(Int)
}
