import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault

extension AdminAPI {
    static let overviewRoutes: [Route<Page>] = [
        .page(
            .post, "/sign-in", .viewer, "Record the operator's sign-in in the audit, and return who is signed in",
            .json(AdminCall.meForm.schema)
        ) { try await $0.signIn() },
        .page(.get, "/me", .viewer, "The calling operator and its permissions", .json(AdminCall.meForm.schema)) {
            .admin(AdminCall.meForm.json($0))
        },
        .page(
            .get, "/overview", .viewer, "The data of the console's first page", .json(ServerState.overviewForm.schema)
        ) {
            .admin(await $0.state.overview($0.shared, $0.tenants))
        },
        .page(
            .get, "/events", .viewer, "The overview every second, and each refusal as it happens",
            .file(
                "text/event-stream",
                "Server-sent events: `overview` with an Overview, `refusal` with a Refused, until the client disconnects or loses access: at the session's end, and within a second of a sign-out or of a change of key, grant or tenants."
            )
        ) { try $0.events() },
        .page(
            .get, "/refusals", .viewer, "The latest refusals of this node, newest first",
            query: [.tenant, .before, .limit], .json(["refusals": [OperatorFeed.refusalSchema]])
        ) { try $0.refusals() },
    ]
}

extension AdminCall {
    fileprivate func signIn() async throws -> HTTPResponse {
        // While the audit is out of service, operators still have to look.
        try? await audit(.adminLogin, of: "admin:\(admin.name)", tenants.auditDetails)
        return .admin(Self.meForm.json(self))
    }

    /// The operator who asks, and the tenants that they see.
    fileprivate static let meForm = AnswerForm<AdminCall>(
        named: "Me",
        [
            .value("name") { $0.admin.name }, .value("shownName") { $0.admin.shownName },
            .value("role") { $0.admin.role },
            .value("tenants") { $0.state.tenants.keys.filter($0.tenants.covers).sorted() },
            .value("allTenants") { $0.tenants.isAll },
            .made("proof", .words(["key", "openID", "proxy"])) { .text($0.admin.proof.word) },
            .value("until") { $0.admin.proof.end }, .value("version") { _ in LatchkeyVersion.text },
            .value("node") { $0.shared.node },
        ])

    /// One overview per second, and each refusal as it happens, as long as the reader may see them.
    fileprivate func events() throws(AdminRefusal) -> HTTPResponse {
        let (shared, current, admin, again) = (shared, current, admin, again)
        // Takes the reader's place immediately, and gives it back when the body is dropped.
        guard let events = shared.feed.events(in: tenants, { await current().overview(shared, $0) }) else {
            throw AdminRefusal(
                503, "adminEvents", "Too many consoles are open.", "Close one, or request the overview instead.")
        }
        let began = shared.timekeeper.uptime
        let body = HTTPBodyStream { body in
            var reader = EventReader(admin, again, shared, from: began)
            for await event in events { guard await reader.mayGoOn(), await body.write(event) else { return } }
        }
        return HTTPResponse(
            status: 200,
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store", "X-Accel-Buffering": "no",
            ], body: .stream(body))
    }

    fileprivate func refusals() throws -> HTTPResponse {
        let (tenant, before, limit) = (try text("tenant"), try number("before"), try limit())
        let refusals = shared.feed.refusals(in: tenants, tenant: tenant, before: before, limit: limit)
        return .admin(.object(["refusals": .array(refusals)]))
    }
}

extension Operator.Proof {
    fileprivate var word: String {
        switch self {
        case .key: "key"
        case .openID: "openID"
        case .proxy: "proxy"
        }
    }

    fileprivate var end: Date? {
        if case .openID(let end) = self { end } else { nil }
    }
}

/// An operator who reads events: until the session's end, and as long as the request would be answered the same way.
private struct EventReader {
    private let admin: Operator
    private let again: @Sendable () async throws(AdminRefusal) -> Operator
    private let shared: ServerShared
    private var asked: Duration

    /// How long an answer counts. A sign-out on another node costs a question to the store of sessions.
    private static let interval = Duration.seconds(1)

    /// - Parameters:
    ///   - admin: the operator when the request came.
    ///   - again: the operator now.
    ///   - uptime: when the request came.
    init(
        _ admin: Operator, _ again: @escaping @Sendable () async throws(AdminRefusal) -> Operator,
        _ shared: ServerShared, from uptime: Duration
    ) {
        (self.admin, self.again, self.shared, asked) = (admin, again, shared, uptime)
    }

    /// Whether the next event may be sent. The reason against it is logged.
    mutating func mayGoOn() async -> Bool {
        if let end = admin.proof.end, shared.timekeeper.date >= end { return false }
        let uptime = shared.timekeeper.uptime
        guard uptime - asked >= Self.interval else { return true }
        asked = uptime
        do throws(AdminRefusal) {
            let now = try await again()
            // With other tenants the events are others: the console asks again.
            return now.name == admin.name && now.tenants == admin.tenants
        } catch {
            shared.log.write(LogEntry(.admin, error, level: .info))
            return false
        }
    }
}

extension ServerState {
    /// Everything of the first page. Figures are those of the metrics.
    /// - Parameter scope: the tenants. Only operators of all tenants get figures of the whole server, such as threads and times.
    func overview(_ shared: ServerShared, _ scope: TenantScope) async -> JSONValue {
        let sessions = await shared.sessions.counts(of: tenants.keys.sorted()).filter { scope.covers($0.key) }
        return Self.overviewForm.json(
            Overview(
                shared: shared, scope: scope, notices: notices(shared, scope), sessions: sessions,
                totals: shared.metrics.licenseTotals(scope), readiness: shared.readiness(self, scope).report,
                pool: shared.pool.admission))
    }

    /// The overview for operators of some tenants.
    fileprivate struct Overview {
        let shared: ServerShared
        let scope: TenantScope
        let notices: [String]
        let sessions: [String: RecordCount]
        let totals: [LicenseOutcome: UInt64]
        let readiness: Readiness.Report
        let pool: AdmissionState
    }

    fileprivate static let overviewForm = AnswerForm<Overview>(
        named: "Overview",
        [
            .value("draining") { $0.shared.isDraining }, .value("time") { _ in Date() },
            .value("node") { $0.shared.node }, .value("region") { $0.shared.engines.settings.region },
            .value("notices") { $0.notices },
            .made("seconds", [secondSchema]) {
                .array($0.shared.counts.latest(in: $0.scope).map(\.json))
            },
            .value("totals") { one in
                Dictionary(LicenseOutcome.allCases.map { ($0.rawValue, one.totals[$0] ?? 0) }) { one, _ in one }
            },
            .value("reasons") { $0.shared.metrics.refusalReasons($0.scope) },
            .made("times", [timeSchema]) { one in
                let times = one.scope.isAll ? one.shared.metrics.licenseTimes : []
                return .array(
                    times.map { .array([$0.bound.isFinite ? .number($0.bound) : .null, .number(Double($0.count))]) })
            },
            .value("sessions") { $0.sessions.mapValues(\.value) },
            .value("sessionsAtLeast") { $0.sessions.filter { !$0.value.isWhole }.keys.sorted() },
            .made("readiness", Readiness.Report.schema) {
                $0.scope.isAll ? $0.readiness.json : .object(["status": .text($0.readiness.word)])
            },
            .value("pending") { one -> Int? in
                one.scope.isAll ? one.shared.engines.pending.map { $0.count - $0.entryCount } ?? 0 : nil
            },
            .list("engines", of: EngineHealth.form) { one in
                one.shared.health.all.filter { one.scope.covers($0.tenant) }.map { (health: $0, standing: $0.standing) }
            },
            .made("pool?", poolForm.schema) { $0.scope.isAll ? poolForm.json($0.pool) : nil },
        ])

    /// `number`, and each outcome that occurred.
    private static let secondSchema = JSONSchema.object(["number": .count], required: ["number"])
        .with(["additionalProperties": JSONSchema.count.json])

    private static let timeSchema = JSONSchema([
        "type": .text("array"), "items": .flag(false),
        "description": .text("Licenses that took at most this many seconds."),
        "prefixItems": .array([.object(["type": .array([.text("number"), .text("null")])]), JSONSchema.count.json]),
    ])

    private static let poolForm = AnswerForm<AdmissionState>([
        .value("busy") { $0.busyThreads }, .value("waiting") { $0.waiting }, .value("limit") { $0.limit },
        .value("overloaded") { $0.isOverloaded },
    ])

    /// Problems that need attention, the most urgent first.
    private func notices(_ shared: ServerShared, _ scope: TenantScope) -> [String] {
        let date = shared.timekeeper.date
        let limits = tenants.values.filter { scope.covers($0.name) }.sorted { $0.name < $1.name }
            .flatMap { $0.usage.notices($0.name, $0.settings.limits, at: date).map(\.text) }
        let own = (keySetNotices + self.notices).filter { scope.covers($0.tenant) }.map(\.text)
        let away = shared.health.all.filter { $0.isAway && scope.covers($0.tenant) }.compactMap(\.notice)
        return away + (scope.isAll ? serverNotices(shared) : []) + limits + own
    }

    private func serverNotices(_ shared: ServerShared) -> [String] {
        var notices = shared.engines.setbacks.map { "\($0.reason) \($0.remedy)" }
        if let pending = shared.engines.pending {
            let entries = pending.entryCount
            if pending.count > entries {
                notices.append(
                    "Changes of this node wait for a store: \(pending.count - entries). They are in force only on this node."
                )
            }
            if entries > 0 { notices.append("Entries of this node wait for the audit's store: \(entries).") }
        }
        notices += shared.disks.compactMap(\.trouble)
        if shared.pool.admission.isOverloaded {
            notices.append("The server is overloaded and sheds requests.")
        }
        if shared.isDraining { notices.append("The node is shutting down.") }
        if let notice = OpenFileLimit.notice { notices.append(notice) }
        return notices
    }
}

extension OutcomeCounts.Second {
    fileprivate var json: JSONValue {
        let counts = counts.map { ($0.rawValue, JSONValue.number($1)) }
        return .object(Dictionary(counts + [("number", .number(Double(number)))]) { one, _ in one })
    }
}

extension EngineHealth {
    /// A row of the console's table: name, engine, tenant, state, since, the last error.
    fileprivate static let form = AnswerForm<(health: EngineHealth, standing: EngineHealth.Standing)>([
        .value("name") { $0.health.name }, .value("words") { $0.health.words },
        .value("region") { $0.health.region }, .value("engine") { $0.health.engine },
        .value("tenant") { $0.health.tenant }, .value("state") { $0.health.status.rawValue },
        .value("trouble") { $0.health.trouble },
        .value("since") { $0.standing.since }, .value("answered") { $0.standing.lastAnswer },
        .value("error") { $0.standing.lastError?.reason.onOneLine }, .value("failed") { $0.standing.failed },
    ])

    /// A notice if it needs attention. A key set's own notice says more.
    fileprivate var notice: String? {
        guard let role = EngineRole(rawValue: name), role != .keySet, let trouble else { return nil }
        return "\(words)\(tenant.map { " of \($0)" } ?? "") \(trouble). \(consequence)"
    }
}
