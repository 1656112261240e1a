import Foundation
package import LatchkeyCore
package import LatchkeyLicensing
package import LatchkeyStores
package import LatchkeySystem
package import LatchkeyVault

/// The stores of a running server. They stay as they are while configurations change.
package struct ServerEngines: Sendable {
    /// Where content keys are kept.
    package enum KeyStorage: Sendable {
        /// In this process, which makes them at each start.
        case memory
        /// In the engine that the configuration names.
        case configured
        /// In a store of the embedding program.
        case program
    }

    package let settings: ServerSettings.Stores
    /// Where content keys are kept.
    let keyStorage: KeyStorage
    let sessions: any RecordStore
    /// The same for operators, and for counts.
    let operatorSessions: any RecordStore
    /// How often nodes of a cluster redirected or postponed a request for sessions, since the start.
    let redirections: @Sendable () -> [ClusterRedirection: UInt64]
    package let keys: GuardedKeyStore
    package let audit: any AuditStore
    package let auditGuard: EngineGuard
    /// Other nodes' changes to keys, for one reader.
    let changes: AsyncStream<KeyChange>
    /// The operators' source of reports.
    package var recordSource = RecordQueries.Source.none
    /// Keys and audit.
    var watched: [EngineGuard] { [keys.guarded, auditGuard] }
    /// Whether another store replaces that of the keys, which a check could not open.
    let standsInForKeys: Bool
    /// Closes the stores.
    private let closing: @Sendable () -> Void
    private let closed: @Sendable () async -> Void

    /// - Parameters:
    ///   - settings: the configuration's settings for them.
    ///   - sessions: sessions and used tokens.
    ///   - operatorSessions: the same for operators. Defaults to the same store.
    ///   - redirections: the requests that a cluster's nodes redirected. Defaults to nothing.
    ///   - keys: content keys.
    ///   - audit: the audit.
    ///   - auditProbe: does the audit's work in a form that changes nothing. Defaults to nothing.
    ///   - changes: other nodes' changes to keys. Defaults to none.
    ///   - keyStorage: where content keys are kept. Defaults to the configuration's place.
    ///   - standsInForKeys: whether another store replaces that of the keys. Defaults to no.
    ///   - timekeeper: the clock for the time since the audit's store last answered. Defaults to the machine's.
    ///   - closing: ends threads and connections. Defaults to nothing.
    package init(
        settings: ServerSettings.Stores, sessions: any RecordStore, operatorSessions: (any RecordStore)? = nil,
        redirections: @escaping @Sendable () -> [ClusterRedirection: UInt64] = { [:] }, keys: GuardedKeyStore,
        audit: any AuditStore,
        auditProbe: @escaping EngineQuestion = { _ in },
        changes: AsyncStream<KeyChange> = AsyncStream { $0.finish() },
        keyStorage: KeyStorage? = nil, standsInForKeys: Bool = false, timekeeper: any Timekeeper = SystemTimekeeper(),
        closing: @escaping @Sendable () -> Void = {}, closed: (@Sendable () async -> Void)? = nil
    ) {
        self.standsInForKeys = standsInForKeys
        self.keyStorage = keyStorage ?? (settings.keys == "memory" ? .memory : .configured)
        (self.settings, self.sessions, self.keys, self.audit) = (settings, sessions, keys, audit)
        (self.operatorSessions, self.redirections) = (operatorSessions ?? sessions, redirections)
        (self.changes, self.closing, self.closed) = (changes, closing, closed ?? { closing() })
        auditGuard = EngineGuard(
            EngineHealth(
                "auditStore", engine: audit.engine, limits: .watched(audit.reach), timekeeper: timekeeper),
            probing: [.write], question: { try await auditProbe($0.operation) })
    }

    /// Changes that wait until the stores answer; `nil` without a copy.
    var pending: PendingChanges? { keys.pending }

    /// Why stores are older than this node's last view of them.
    var setbacks: [StoreError] { keys.age?.setbacks.map(\.error) ?? [] }

    /// Opens the stores; each address once, however often it is named. With a node's own copy that knows the tenants, databases may be away.
    /// - Parameters:
    ///   - file: the configuration.
    ///   - given: stores of the embedding program, in place of the configuration's. Defaults to none.
    ///   - purpose: whether a file of a store may be made or changed. Defaults to yes.
    ///   - limits: PostgreSQL's limits. Defaults to its own.
    ///   - timekeeper: the clock of their health. Defaults to the machine's.
    /// - Throws: `ServerProblems`.
    package static func open(
        _ file: ConfigurationFile, given: ServerStores = ServerStores(), for purpose: StorePurpose = .serving,
        limits: PostgreSQLStore.Settings = .init(), timekeeper: any Timekeeper = SystemTimekeeper()
    ) async throws(ServerProblems) -> ServerEngines {
        var problems = ServerProblems()
        var opened: [String: Stores?] = [:]
        let stores = file.settings.stores
        // A check makes no file.
        let copy = purpose == .checking ? nil : await problems.awaiting("stores.copy") { try file.copy() } ?? nil
        let pending = await problems.awaiting("stores.copy") { try await copy.openChanges() } ?? nil
        let copied = await problems.awaiting("stores.copy") { try await copy.openFingerprint() } ?? nil
        // The copy's own read errors are reported when it is asked for keys.
        let mayBeAway = await (try? copy?.dataKeys())?.isEmpty == false
        func open(_ text: String, _ place: String, mayBeAway: Bool) async -> Stores? {
            if let stores = opened[text] { return stores }
            let stores = await problems.awaiting("stores.\(place)") {
                try await Stores.open(
                    StoreAddress(text).below(file.folder), limits: limits,
                    recordLimit: .milliseconds(stores.sessionMilliseconds), mayBeAway: mayBeAway, for: purpose)
            }
            opened[text] = .some(stores)
            return stores
        }
        func records() async -> Stores? {
            guard !stores.regions.isEmpty else { return await open(stores.sessions, "sessions", mayBeAway: mayBeAway) }
            var regions: [String: Stores] = [:]
            for (name, address) in stores.regions.sorted(by: { $0.key < $1.key }) {
                // A region's outage keeps no node of another region from its start.
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
        let marked = stores.marked(opened)
        let age = await problems.awaiting("stores.copy") { try await auditStore.age(of: copy, marked) } ?? nil
        let changes = problems.collecting("stores.keys") { try keys?.changes?() } ?? nil
        guard problems.isEmpty, let sessions, let keyStore, let auditStore, let keys, let audit else {
            close()
            throw problems
        }
        let guarded = GuardedKeyStore(
            keyStore,
            health: EngineHealth(
                "keyStore", engine: keyStore.engine, limits: .watched(keyStore.reach), timekeeper: timekeeper),
            copy: copy, pending: pending, age: age, expected: stores.fingerprint ?? copied,
            probing: [.read, .write] + (changes == nil ? [] : [.listen])
        ) { operation throws(StoreError) in try await keys.probe(.keyStore, operation) }
        let engines = ServerEngines(
            settings: stores, sessions: sessions.records, operatorSessions: sessions.operatorRecords,
            redirections: sessions.redirections, keys: guarded, audit: auditStore,
            auditProbe: { operation throws(StoreError) in try await audit.probe(.auditStore, operation) },
            changes: changes ?? AsyncStream { $0.finish() }, keyStorage: given.keys.map { _ in .program },
            timekeeper: timekeeper, closing: close,
            closed: closed)
        // Engines that may be away, or another database than the copy's, are probed before anything relies on them.
        if copy != nil { await engines.look(atLeastEvery: .zero) }
        if let error = guarded.health.standing.lastError, guarded.isAway, error.kind == .misconfigured {
            engines.close()
            problems.add(.init("stores.keys", error.reason, error.remedy))
            throw problems
        }
        return engines
    }

    /// Probes doubtful engines, and those unused for some time, all at the same time.
    func look(atLeastEvery time: Duration) async { await watched.look(atLeastEvery: time) }

    /// Ends threads and connections.
    package func close() { closing() }

    /// Ends threads and connections, and waits until files are closed: a database file without a log file can be checked, and copied.
    func closeFiles() async { await closed() }
}

extension [EngineGuard] {
    /// Probes doubtful engines, and those unused for some time, all at the same time.
    func look(atLeastEvery time: Duration) async {
        await withTaskGroup { group in
            for one in self { group.addTask { await one.probe(afterQuiet: time) } }
        }
    }
}

extension CircuitBreaker.Limits {
    /// Of an engine for which the server looks each second: its work can wait that long.
    static func watched(_ reach: EngineReach) -> Self { reach == .network ? .immediate : .embedded }
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

extension AuditStore? {
    fileprivate func age(of copy: (any NodeCopy)?, _ marked: [MarkedStore]) async throws(StoreError) -> StoreAge? {
        guard let self else { return nil }
        return try await StoreAge.open(self, copy: copy, marking: marked)
    }
}

extension ServerSettings.Stores {
    /// The opened stores of keys and sessions that are elsewhere than the audit.
    func marked(_ opened: [String: Stores?]) -> [MarkedStore] {
        let regional = regions.sorted { $0.key < $1.key }.map { (address: $0.value, name: "sessions in \($0.key)") }
        let places = [(address: keys, name: "keys")] + (regional.isEmpty ? [(sessions, "sessions")] : regional)
        var known: Set = [audit]
        return places.compactMap { address, name in
            guard known.insert(address).inserted, let records = opened[address]??.records, records.reach != .memory
            else { return nil }
            return MarkedStore(name, hasKeys: address == keys, records: records)
        }
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
        code: "copyAddress", reason: "A node's copy must be a file.", remedy: "Write sqlite:PATH.")
}

extension ServerProblems.Problem {
    static func keepsRecordsOnly(_ place: String) -> Self {
        Self(
            "stores.\(place)", "This engine can only keep sessions and used tokens.",
            "Use memory, sqlite:PATH or postgresql://….")
    }
}
