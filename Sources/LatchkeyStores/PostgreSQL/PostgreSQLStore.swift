import Foundation
package import LatchkeyCore
import LatchkeyFairPlay
package import LatchkeySystem
package import LatchkeyVault

/// Records, keys and the audit of any number of nodes.
///
/// Two connections for records, whose commits do not wait for the disk; two for keys, the audit and long work, whose commits do;
/// one that tests whether commits end; one that listens for other nodes' changes; and one that reads while no server takes changes.
/// The clock is the server's.
///
/// Source: `Documentation/Server/Stores.md`.
package final class PostgreSQLStore: RecordStore, KeyStore, AuditStore {
    /// Limits of time, and numbers of connections.
    package struct Settings: Sendable {
        /// How long a record may take. Defaults to 50 ms.
        package var recordLimit = Duration.milliseconds(50)
        /// How long a read of some keys may take, because a viewer waits for it. Defaults to 500 ms.
        package var readLimit = Duration.milliseconds(500)
        /// How long a key or an entry of the audit may take. Defaults to 2 s.
        package var keyLimit = Duration.seconds(2)
        /// How long a page, a count, or many keys may take. Defaults to 30 s.
        package var pageLimit = Duration.seconds(30)
        /// How long opening may take. Defaults to 10 s.
        package var openLimit = Duration.seconds(10)
        /// Connections for each kind of work. Defaults to 2.
        package var connections = 2

        package init() {}
    }

    static let name = "postgresql"

    package let engine = PostgreSQLStore.name
    package let settings: Settings
    let records: PostgreSQLPool
    let work: PostgreSQLPool
    let readers: PostgreSQLReaders
    /// Tests whether commits end. A commit that waits for a standby keeps its server process, even if the connection was given up: so this
    /// connection is kept, or each try would leave another process. It is given up only if there is another server, less often each time.
    let commits: PostgreSQLPool
    let listener = Locked<PostgreSQLListener?>(nil)
    let sweep = Locked(RecordSweep())
    private let hosts: PostgreSQLHosts

    /// Connects, and checks that the tables are there.
    /// - Parameters:
    ///   - address: `postgresql://…`, as libpq reads it; several hosts are tried in turn until one takes changes.
    ///   - settings: limits.
    ///   - migrates: whether it first makes or expands the tables, which the role then has to own.
    ///   - role: the servers' role, to which a migration grants the rights it needs; `nil` grants nothing.
    ///   - days: how many days of the record a migration keeps at least. Defaults to the previous setting.
    ///   - mayBeAway: whether a database that does not answer is tried again later. Defaults to no.
    /// - Throws: `storeMisconfigured` without tables, `storeDamaged` with those of a newer server, `storeUnavailable`. No error repeats a
    ///   part of the address.
    package static func open(
        _ address: Secret, _ settings: Settings = Settings(), migrates: Bool = false, granting role: String? = nil,
        keeping retention: RecordRetention = .asBefore, mayBeAway: Bool = false
    ) async throws(StoreError) -> PostgreSQLStore {
        let store = try PostgreSQLStore(address, settings)
        if migrates { try await store.migrate(granting: role, keeping: retention) }
        do {
            let limit = mayBeAway ? settings.keyLimit : settings.openLimit
            try await store.readers.ask { pool throws(StoreError) in
                try await PostgreSQLSchema.check(pool, within: limit)
            }
        } catch {
            guard mayBeAway, error.kind == .unavailable else {
                store.close()
                throw error
            }
        }
        return store
    }

    private init(_ address: Secret, _ settings: Settings) throws(StoreError) {
        self.settings = settings
        hosts = try PostgreSQLHosts(address)
        let quick = PostgreSQLLane.Setup(hosts: hosts, isDurable: false, statementLimit: settings.recordLimit)
        records = try PostgreSQLPool(quick, count: settings.connections, name: "records")
        var durable = PostgreSQLLane.Setup(hosts: hosts, isDurable: true, statementLimit: settings.pageLimit)
        work = try PostgreSQLPool(durable, count: settings.connections, name: "work")
        readers = PostgreSQLReaders(work, durable)
        durable.patience = hosts.parameters.count > 1 ? .seconds(8) : nil
        durable.growsPatient = true
        commits = try PostgreSQLPool(durable, count: 1, name: "commits")
    }

    /// Makes the tables, or adds missing parts. Several nodes may do so concurrently; a second time changes nothing.
    /// - Parameters:
    ///   - role: the role that gets a server's rights; `nil` grants nothing.
    ///   - retention: which days of the record stay.
    /// - Throws: `storeMisconfigured` if the role lacks the rights.
    func migrate(granting role: String? = nil, keeping retention: RecordRetention = .asBefore) async throws(StoreError)
    {
        let statements =
            PostgreSQLSchema.statements + PostgreSQLRecordSchema.statements(keeping: retention)
            + (role.map(PostgreSQLSchema.grants) ?? [])
        var generator = CryptographicGenerator()
        let calls =
            statements.enumerated().map { PostgreSQLCall("migrate-\($0.offset)", $0.element) }
            + [PostgreSQLSchema.identity(.random(using: &generator))]
        // One transaction: the lock is held until it ends.
        _ = try await work.run(calls, within: settings.pageLimit)
    }

    /// Ends the connections. Work under way fails as unavailable.
    package func close() {
        for pool in [records, work, commits] { pool.close() }
        readers.close()
        listener.withLock { $0 }?.close()
    }

    /// Changes of keys by other nodes, and by this one, over a separate connection for as long as the stream has a listener.
    ///
    /// Begins with `everything`, and repeats it after each new connection and when a listener was too slow. Notifications are not
    /// durable: also poll now and then.
    /// - Throws: `storeUnavailable` if the process has too many open files.
    package func changes() throws(StoreError) -> AsyncStream<KeyChange> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: KeyChange.self, bufferingPolicy: .bufferingNewest(1_024))
        let setup = PostgreSQLLane.Setup(hosts: hosts, isDurable: true, statementLimit: settings.pageLimit)
        let made = try PostgreSQLListener(setup) { text in
            let change = text.flatMap(KeyChange.init(notification:)) ?? .everything
            // The oldest is dropped; the newest then reports it.
            if case .dropped = continuation.yield(change) { continuation.yield(.everything) }
        }
        listener.withLock { $0 = made }
        continuation.onTermination = { _ in made.close() }
        return stream
    }
}

extension KeyChange {
    /// `TENANT:KID`, `TENANT:` for all of a tenant, or `:blocks`.
    fileprivate init?(notification: String) {
        guard let colon = notification.lastIndex(of: ":") else { return nil }
        let tenant = String(notification[..<colon])
        let kid = String(notification[notification.index(after: colon)...])
        if notification == ":blocks" {
            self = .blocks
        } else if kid.isEmpty {
            self = .tenant(tenant)
        } else if let kid = KeyID(kid) {
            self = .key(tenant: tenant, kid)
        } else {
            return nil
        }
    }
}
