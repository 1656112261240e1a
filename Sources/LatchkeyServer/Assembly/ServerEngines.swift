import Foundation
package import LatchkeyCore
package import LatchkeyLicensing
import LatchkeyOperation
package import LatchkeyStores
package import LatchkeySystem
package import LatchkeyVault

/// The stores of a running server. They stay as they are while configurations change.
package struct ServerEngines: Sendable {
    /// An engine that is asked now and then whether it answers.
    package struct Watched: Sendable {
        let health: EngineHealth
        let probe: @Sendable () async -> Void
    }

    /// Where content keys are kept.
    package enum KeyHome: Sendable {
        /// In this process, which makes them at each start.
        case memory
        /// In the engine that the configuration names.
        case configured
        /// In a store of the embedding program.
        case program
    }

    package let settings: ServerSettings.Stores
    /// Where content keys are kept.
    let keyHome: KeyHome
    let sessions: any RecordStore
    /// The same for people who look, and counts.
    let operatorSessions: any RecordStore
    /// How often nodes of a cluster sent a request for sessions elsewhere or put it off, since the start.
    let redirections: @Sendable () -> [ClusterRedirection: UInt64]
    package let keys: GuardedKeyStore
    package let audit: any AuditStore
    package let auditHealth: EngineHealth
    let changes: @Sendable () throws(StoreError) -> AsyncStream<KeyChange>
    /// What operators ask for reports.
    package var recordSource = RecordDesk.Source.none
    /// Keys and audit.
    let watched: [Watched]
    /// Whether another store stands in for that of the keys, which a check could not open.
    let standsInForKeys: Bool
    /// What there is to close.
    private let closing: @Sendable () -> Void
    private let closed: @Sendable () async -> Void

    /// - Parameters:
    ///   - settings: what the configuration says of them.
    ///   - sessions: sessions and used tokens.
    ///   - operatorSessions: the same for people who look. Defaults to the same store.
    ///   - redirections: what a cluster's nodes sent elsewhere. Defaults to nothing.
    ///   - keys: content keys.
    ///   - audit: the audit.
    ///   - auditProbe: asks whether the audit's store answers. Defaults to one that does.
    ///   - changes: what other nodes change about keys.
    ///   - keyHome: where content keys are kept. Defaults to what the configuration says.
    ///   - standsInForKeys: whether another store stands in for that of the keys. Defaults to no.
    ///   - timekeeper: the clock that says how long nobody heard of the audit's store. Defaults to the machine's.
    ///   - closing: ends threads and connections. Defaults to nothing.
    package init(
        settings: ServerSettings.Stores, sessions: any RecordStore, operatorSessions: (any RecordStore)? = nil,
        redirections: @escaping @Sendable () -> [ClusterRedirection: UInt64] = { [:] }, keys: GuardedKeyStore,
        audit: any AuditStore,
        auditProbe: @escaping @Sendable () async throws(StoreError) -> Void = {},
        changes: @escaping @Sendable () throws(StoreError) -> AsyncStream<KeyChange>,
        keyHome: KeyHome? = nil, standsInForKeys: Bool = false, timekeeper: any Timekeeper = SystemTimekeeper(),
        closing: @escaping @Sendable () -> Void = {}, closed: (@Sendable () async -> Void)? = nil
    ) {
        self.standsInForKeys = standsInForKeys
        self.keyHome = keyHome ?? (settings.keys == "memory" ? .memory : .configured)
        (self.settings, self.sessions, self.keys, self.audit) = (settings, sessions, keys, audit)
        (self.operatorSessions, self.redirections) = (operatorSessions ?? sessions, redirections)
        (self.changes, self.closing, self.closed) = (changes, closing, closed ?? { closing() })
        let auditHealth = EngineHealth("auditStore", engine: audit.engine, timekeeper: timekeeper)
        self.auditHealth = auditHealth
        watched = [
            Watched(health: keys.health) { await keys.probe() },
            Watched(health: auditHealth) { await auditHealth.note(auditProbe) },
        ]
    }

    /// What waits until the stores answer; `nil` without a copy.
    var pending: PendingChanges? { keys.pending }

    /// Opens the stores; each address once, however often it is named. With a node's own copy that knows the tenants, databases may be away.
    /// - Parameters:
    ///   - file: the configuration.
    ///   - given: stores of the embedding program, in place of those that the configuration names. Defaults to none.
    ///   - purpose: whether a file of a store may be made or changed. Defaults to yes.
    ///   - timekeeper: the clock of their health. Defaults to the machine's.
    /// - Throws: `ServerProblems`.
    package static func open(
        _ file: ConfigurationFile, given: ServerStores = ServerStores(), for purpose: StorePurpose = .serving,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) async throws(ServerProblems) -> ServerEngines {
        var problems = ServerProblems()
        var opened: [String: Stores?] = [:]
        let stores = file.settings.stores
        // Who only looks makes no file.
        let copy = purpose == .checking ? nil : await problems.awaiting("stores.copy") { try file.copy() } ?? nil
        let pending = await problems.awaiting("stores.copy") { try await copy.openChanges() } ?? nil
        let copied = await problems.awaiting("stores.copy") { try await copy.openFingerprint() } ?? nil
        // What the copy cannot read of itself is said when it is asked for keys.
        let mayBeAway = await (try? copy?.dataKeys())?.isEmpty == false
        func open(_ text: String, _ place: String, mayBeAway: Bool) async -> Stores? {
            if let stores = opened[text] { return stores }
            let stores = await problems.awaiting("stores.\(place)") {
                try await Stores.open(
                    StoreAddress(text).below(file.folder), recordLimit: .milliseconds(stores.sessionMilliseconds),
                    mayBeAway: mayBeAway, for: purpose)
            }
            opened[text] = .some(stores)
            return stores
        }
        func records() async -> Stores? {
            guard !stores.regions.isEmpty else { return await open(stores.sessions, "sessions", mayBeAway: mayBeAway) }
            var regions: [String: Stores] = [:]
            for (name, address) in stores.regions.sorted(by: { $0.key < $1.key }) {
                // A region that is away keeps no node of another one from its start.
                regions[name] = await open(address, "regions.\(name)", mayBeAway: true)
            }
            return regions.count == stores.regions.count ? Stores(regions: regions) : nil
        }
        let keys =
            if let given = given.keys { Stores(given) } else { await open(stores.keys, "keys", mayBeAway: mayBeAway) }
        let audit =
            if let given = given.audit { Stores(given) } else {
                await open(stores.audit, "audit", mayBeAway: mayBeAway)
            }
        // Last: where a region shares an address with them, keys and audit say whether it may be away.
        let sessions = if let given = given.sessions { Stores(records: given) } else { await records() }
        let keyStore = keys?.keys ?? (stores.keys == "memory" ? MemorySealedKeyStore() : nil)
        let auditStore = audit?.audit ?? (stores.audit == "memory" ? MemoryAuditStore() : nil)
        if keys != nil, keyStore == nil { problems.add(.keepsRecordsOnly("keys")) }
        if audit != nil, auditStore == nil { problems.add(.keepsRecordsOnly("audit")) }
        let close = { @Sendable [opened] in
            for stores in opened.values { stores?.close() }
            copy?.close()
        }
        let closed = { @Sendable [opened] in
            for stores in opened.values { await stores?.closed() }
            await copy?.closed()
        }
        guard problems.isEmpty, let sessions, let keyStore, let auditStore, let keys, let audit else {
            close()
            throw problems
        }
        let guarded = GuardedKeyStore(
            keyStore, health: EngineHealth("keyStore", engine: keyStore.engine, timekeeper: timekeeper), copy: copy,
            pending: pending,
            expected: stores.fingerprint ?? copied, question: keys.probe)
        let engines = ServerEngines(
            settings: stores, sessions: sessions.records, operatorSessions: sessions.operatorRecords,
            redirections: sessions.redirections, keys: guarded, audit: auditStore, auditProbe: audit.probe,
            changes: keys.changes, keyHome: given.keys.map { _ in .program }, timekeeper: timekeeper, closing: close,
            closed: closed)
        // What may be away, or another database than the copy's, is looked at before somebody counts on it.
        if copy != nil { await engines.look(atLeastEvery: .zero) }
        if let error = guarded.health.standing.lastError, guarded.isAway, error.kind == .misconfigured {
            engines.close()
            problems.add(.init("stores.keys", error.reason, error.remedy))
            throw problems
        }
        return engines
    }

    /// Asks each engine that is away, or of which nobody heard for some time, whether it answers. All at once.
    func look(atLeastEvery time: Duration) async {
        await withTaskGroup { group in
            for one in watched where one.health.isAway || one.health.isQuiet(for: time) {
                group.addTask { await one.probe() }
            }
        }
    }

    /// Ends threads and connections.
    package func close() { closing() }

    /// Ends threads and connections, and waits until files are closed: a file without a log beside it can be checked, and copied.
    func closeFiles() async { await closed() }
}

extension EngineHealth {
    /// Notes what a question brings.
    fileprivate func note(_ question: () async throws(StoreError) -> Void) async {
        do throws(StoreError) {
            try await question()
            note()
        } catch {
            note(error)
        }
    }
}

extension SQLiteNodeCopy? {
    fileprivate func openFingerprint() async throws(StoreError) -> DatabaseFingerprint? {
        try await self?.fingerprint() ?? nil
    }

    fileprivate func openChanges() async throws(StoreError) -> PendingChanges? {
        guard let self else { return nil }
        return try await PendingChanges.open(self)
    }
}

extension ConfigurationFile {
    /// Opens the node's own copy; `nil` where none is configured.
    fileprivate func copy() throws -> SQLiteNodeCopy? {
        guard let text = settings.stores.copy else { return nil }
        guard case .sqlite(let path) = try StoreAddress(text).below(folder) else {
            throw Diagnosis.copyAddress
        }
        var limits = SQLiteNodeCopy.Limits()
        limits.rows = settings.stores.copyRows
        return try SQLiteNodeCopy(path: path, limits: limits)
    }
}

extension Diagnosis {
    static let copyAddress = Diagnosis(
        code: "copyAddress", reason: "A node's own copy is a file.", remedy: "Write sqlite:PATH.")
}

extension ServerProblems.Problem {
    static func keepsRecordsOnly(_ place: String) -> Self {
        Self(
            "stores.\(place)", "This engine keeps sessions and used tokens only.",
            "Name memory, sqlite:PATH or postgresql://….")
    }
}
