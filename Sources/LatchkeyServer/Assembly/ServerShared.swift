import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyHTTP
import LatchkeyLicensees
package import LatchkeyLicensing
import LatchkeySystem
package import LatchkeyVault

/// The state that all configurations of a process share: stores, accounts, threads, metrics, log, audit.
package final class ServerShared: Sendable {
    /// The clock of the whole process.
    let timekeeper: any Timekeeper
    package let engines: ServerEngines
    let accounts: AccountSessions
    let pool: WorkerPool
    /// Whether several licenses are opened together.
    let batches: LicenseBatches
    /// Packagers' requests, on their own threads, with a lower priority than players'.
    package let packagers = PackagerPool()
    let playbacks = RunningPlaybacks()
    let metrics: ServerMetrics
    let log: ServerLog
    /// The record of licenses; `nil` without one.
    package var record: LicenseRecord? {
        get { keptRecord.withLock { $0 } }
        set { keptRecord.withLock { $0 = newValue } }
    }
    private let keptRecord = Locked<LicenseRecord?>(nil)
    /// Names viewers where their names may not appear.
    let pseudonyms: UserPseudonyms
    /// Names erased accounts, in the audit and for rows of the record that arrive later.
    let erasures: UserPseudonyms
    package let audit: AuditChain
    package let decisions = RecentDecisions()
    let counts: OutcomeCounts
    let saturation: Saturation
    /// The name of this node, for its log and for operators: the configuration's, or the host's.
    let node: String
    /// The health of everything outside that this node needs.
    let health: EngineTable
    /// The events that operators see as they happen.
    let feed: OperatorFeed
    /// The accounts for operators: more patient than for players, and no slow page of theirs counts as an outage.
    let operatorAccounts: AccountSessions
    let sessions: SessionCounts
    let usages: TenantUsages
    let keyCounts: KeyCounts
    /// Where operators ask the record.
    let recordQueries: RecordQueries
    private let digestKey: Secret?
    /// Whether the configuration has a secret that all nodes and starts share.
    var hasNodeSecret: Bool { digestKey != nil }
    /// The members that operators' browsers keep for the server.
    let signedText: SignedText
    /// Sign-ins that are over, and sessions of operators that were ended.
    let oneTimeNames: OneTimeNames
    /// The limit of players' requests in progress at the same time, from their arrival on.
    let requestLimit: ConcurrencyLimit
    private let limits: Locked<(settings: ServerSettings.Limits, limiter: RateLimiter)>
    private let lines: LineWriter
    private let draining = Locked(false)

    /// Makes it on a thread for files, because the node's secret is in one, or a token has to open it.
    package static func read(
        _ file: ConfigurationFile, _ engines: ServerEngines, _ lines: LineWriter,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) async throws -> ServerShared {
        try await file.threads.run("nodeSecret", within: ServerBuilder.tokenLimit) {
            try ServerShared(file, engines, lines, timekeeper: timekeeper)
        }
    }

    /// Blocks as long as the file of the node's secret does.
    /// - Parameters:
    ///   - hasOwnSecret: whether the server's own secret replaces the configuration's. Defaults to no.
    ///   - timekeeper: the clock of everything that depends on time. Defaults to the machine's.
    init(
        _ file: ConfigurationFile, _ engines: ServerEngines, _ lines: LineWriter, hasOwnSecret: Bool = false,
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) throws {
        self.timekeeper = timekeeper
        self.engines = engines
        node = file.settings.node ?? ProcessInfo.processInfo.hostName
        counts = OutcomeCounts(timekeeper: timekeeper)
        saturation = Saturation(timekeeper: timekeeper)
        feed = OperatorFeed(timekeeper: timekeeper)
        keyCounts = KeyCounts(timekeeper: timekeeper)
        recordQueries = RecordQueries(engines.recordSource, timekeeper: timekeeper)
        metrics = ServerMetrics(version: LatchkeyVersion.text)
        usages = TenantUsages(metrics)
        let threads = file.settings.threads ?? ProcessInfo.processInfo.activeProcessorCount
        pool = WorkerPool(threads: threads, timekeeper: timekeeper)
        requestLimit = ConcurrencyLimit(least: threads * 8)
        self.lines = lines
        let secret =
            try (hasOwnSecret ? nil : file.settings.nodeSecret).map { try KeyEncryptionKey($0, in: file.secrets) }
            ?? KeyEncryptionKey(id: "node", key: .random(32))
        let metrics = metrics
        pseudonyms = try UserPseudonyms(secret: secret.secret(for: "latchkey/pseudonyms/1"))
        erasures = try UserPseudonyms(secret: secret.secret(for: "latchkey/erasures/1"))
        log = ServerLog(
            lines, pseudonyms: pseudonyms, node: node,
            whenDropped: { metrics.logDropped[$0.name].add() })
        digestKey = try file.settings.nodeSecret == nil ? nil : secret.secret(for: "latchkey/configuration/1")
        signedText = SignedText(try secret.secret(for: "latchkey/operators/1"))
        oneTimeNames = OneTimeNames(engines.sessions, log, timekeeper: timekeeper)
        batches = LicenseBatches(file.settings.cryptoMB, in: file.secrets, metrics, log)
        audit = AuditChain(
            engines.audit, guarded: engines.auditGuard, pending: engines.pending, timekeeper: timekeeper)
        limits = Locked((file.settings.limits, RateLimiter(file.settings.limits.rates, timekeeper: timekeeper)))
        operatorAccounts = AccountSessions(
            accounts: engines.operatorSessions, secrets: [], limits: RecordStoreLimits(time: .seconds(5)),
            pending: engines.pending, timekeeper: timekeeper)
        sessions = SessionCounts(operatorAccounts, metrics, timekeeper: timekeeper)
        metrics.show(pool)
        let log = log
        let health = EngineTable(timekeeper: timekeeper) { $0.tell(metrics, log) }
        self.health = health
        accounts = try AccountSessions(
            accounts: engines.sessions, secrets: [secret.secret(for: "latchkey/heartbeats/1")],
            limits: RecordStoreLimits(time: .milliseconds(engines.settings.sessionMilliseconds)),
            pending: engines.pending, blocks: engines.keys.blockList, timekeeper: timekeeper
        ) { event in
            switch event {
            case .failed(let engine, let error): metrics.storeErrors[engine.rawValue, error.engine].add()
            case .took(let engine, let operation, let time):
                metrics.storeTime[engine.rawValue, operation.rawValue].observe(time)
            case .tookInRegion(let region, let time): metrics.regionTime[region].observe(time)
            }
        }
        for engine in engines.watched + accounts.watched { health.add(engine.health) }
        engines.keys.age?.whenChanged { store, setback in
            let isOver = "The state of the \(store) is as new as this node's last view of it, or was accepted."
            log.write(setback.map { LogEntry(.outage, $0) } ?? LogEntry(.info, .outage, message: isOver))
        }
    }

    /// Probes doubtful stores, and those unused for some time, all at the same time.
    func look(atLeastEvery time: Duration) async {
        async let sessions = engines.keys.age?.lookAtSessions()
        await (engines.watched + accounts.watched).look(atLeastEvery: time)
        _ = await sessions
    }

    /// Whether this node can answer, by the same checks for `/readyz`, the metric and the console.
    /// - Parameter scope: the tenants whose outside services count besides the server's own. Defaults to all tenants.
    func readiness(_ state: ServerState, _ scope: TenantScope = .all) -> Readiness {
        Readiness(
            [
                .init("draining") { self.isDraining ? "the node is shutting down" : nil },
                .init("credentials") {
                    state.credentials.isEmpty && !state.hasModule ? "there are no credentials" : nil
                },
                saturation.check("pool"),
                .init("tenants") { state.tenants.isEmpty ? "there are no tenants" : nil },
                .init("storeAge", isTolerable: true) { self.engines.setbacks.first?.reason },
            ] + disks.map { disk in .init(disk.name, isTolerable: true) { disk.trouble } }
                + health.all.filter { $0.tenant == nil || scope.covers($0.tenant) }.map { .init($0) })
    }

    /// Sets the gauges that are computed on demand.
    func fillMetrics(_ state: ServerState) {
        state.showKeySets(in: metrics)
        metrics.show(engines.redirections())
        showLimits(of: state)
        metrics.keysCached.set(Double(state.tenants.values.reduce(0) { $0 + $1.vault.cachedCount }))
        metrics.show(health.all)
        metrics.ready.set(readiness(state).report.isReady ? 1 : 0)
        metrics.storeIsBehind.set(engines.setbacks.isEmpty ? 0 : 1)
        let entries = engines.pending?.entryCount ?? 0
        metrics.pendingEntries.set(Double(entries))
        metrics.pendingChanges.set(Double((engines.pending?.count ?? 0) - entries))
        metrics.auditSequence.set(Double(audit.lastSeen?.sequence ?? 0))
    }

    /// Shows the result of an audit check; only problems are logged.
    func show(_ verdict: AuditVerdict) {
        var isIntact = true
        if case .broken = verdict { isIntact = false }
        metrics.auditIsIntact.set(isIntact ? 1 : 0)
        if !isIntact { log.write(LogEntry(.error, .admin, message: "\(verdict)")) }
    }

    /// Why this node's own disk refuses writes, by the name of a check; `nil` if it does not.
    var disks: [(name: String, trouble: String?)] {
        var disks: [(name: String, trouble: String?)] = []
        if let record {
            let words =
                "The record's spool does not accept rows, and they are lost. Free space on its disk, or raise record.megabytes."
            disks.append((name: "recordSpool", trouble: record.spool.standing.isFull ? words : nil))
        }
        if let copy = engines.keys.copy {
            let words = copy.failure.map { "The node's copy of the key store cannot be written. \($0.reason)" }
            disks.append((name: "nodeCopy", trouble: words))
        }
        return disks
    }

    /// The end of the names of requests that this node makes.
    var nodeName: String { RequestID.nodeName(node) }

    /// Makes the builder of a configuration's state from the shared state.
    /// - Parameter former: the configuration that is in force, whose knowledge is taken over. Defaults to none.
    func builder(_ file: ConfigurationFile, former: ServerState? = nil) -> ServerBuilder {
        ServerBuilder(
            file: file, engines: engines, accounts: accounts, pool: pool, batches: batches, playbacks: playbacks,
            log: log, health: health, timekeeper: timekeeper, digestKey: digestKey, usages: usages,
            moduleObserver: metrics.moduleObserver(of:), former: former)
    }

    /// Shows a configuration in the metrics.
    func show(_ state: ServerState) {
        metrics.configurationIsLoaded.set(1)
        health.keep { role, tenant in
            switch role {
            case .callout: tenant.flatMap { state.tenants[$0]?.callout } != nil
            case .keySet: tenant.flatMap { state.tenants[$0]?.tokenKeys } != nil
            case .openID: state.openID != nil
            default: true
            }
        }
        // A client that used up a limit stays limited while the limits stay the same.
        limits.withLock { limits in
            guard limits.settings != state.settings.limits else { return }
            limits = (state.settings.limits, RateLimiter(state.settings.limits.rates, timekeeper: timekeeper))
        }
        // The former configuration's certificates are gone: a replaced one must not cause an alert.
        metrics.credentialExpiry.replaceAll(
            state.credentials.map { tenant, credential in
                ([tenant ?? "", credential.sha1], credential.notAfter?.timeIntervalSince1970 ?? 0)
            })
        metrics.listenerCertificateExpiry.replaceAll(
            state.identities.named.map { ([$0.key], $0.value.notAfter.timeIntervalSince1970) })
        metrics.policyInfo.replaceAll(
            state.policies.names.compactMap { name in state.policies[name].map { ([name, $0.digest], 1) } })
        metrics.configurationInfo.replaceAll(state.digests.map { ([$0.key, $0.value], 1) })
    }

    /// The limiter of players' requests, by the configuration in force.
    var limiter: RateLimiter { limits.withLock { $0.limiter } }

    /// Whether the node is shutting down.
    var isDraining: Bool {
        get { draining.withLock { $0 } }
        set { draining.withLock { $0 = newValue } }
    }

    /// Writes the rest of the log, and closes the stores.
    package func close() async {
        await record?.close()
        recordQueries.close()
        log.tellDropped()
        await lines.flush()
        await engines.closeFiles()
    }
}

extension EngineHealth {
    /// Logs when the engine fails and when it is back, for each kind of work.
    fileprivate func tell(_ metrics: ServerMetrics, _ log: ServerLog) {
        let (name, tenant) = (name, tenant)
        let role = EngineRole(rawValue: name)
        let (words, consequence) = (words, consequence)
        // The surplus of a fleet is at most the sum of these over its nodes.
        let isCounted = (role == .sessionStore || role == .tokenStore) && region == nil
        let degraded = isCounted ? metrics.licensesDegraded[name] : nil
        // From the first kind of work that fails to the last one that is back.
        let outage = Locked<(away: Set<EngineOperation>, before: UInt64)>(([], 0))
        whenChanged { operation, standing in
            if standing.isAway, let error = standing.lastError {
                outage.withLock { outage in
                    if outage.away.isEmpty { outage.before = degraded?.value ?? 0 }
                    outage.away.insert(operation)
                }
                // Those of sessions and tokens are counted one by one.
                if role == .keyStore || role == .auditStore { metrics.storeErrors[name, error.engine].add() }
                var entry = LogEntry(.outage, error, tenant: tenant)
                entry.message =
                    "\(words) \(operation.words.away). \(error.reason) \(operation.consequence ?? consequence)"
                log.write(entry)
            } else {
                var message = "\(words) \(operation.words.back)."
                let before = outage.withLock { outage in
                    outage.away.remove(operation) != nil && outage.away.isEmpty ? outage.before : nil
                }
                if let degraded, let before {
                    message += " Licenses issued without it on this node: \(degraded.value - before)."
                }
                var entry = LogEntry(.info, .outage, message: message)
                entry.tenant = tenant
                log.write(entry)
            }
        }
    }
}
