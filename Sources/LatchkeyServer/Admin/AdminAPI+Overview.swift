import Foundation
import LatchkeyCore
import LatchkeyEngines
import LatchkeyFiles
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyOperation
import LatchkeyVault

extension AdminAPI {
    static let overviewRoutes: [Route<Page>] = [
        Route([.post], "/admin/v1/sign-in", Page(.viewer, .own) { try await $0.signIn() }),
        Route([.get], "/admin/v1/me", Page(.viewer, .own) { .admin($0.me) }),
        Route(
            [.get], "/admin/v1/overview", Page(.viewer, .own) { .admin(await $0.state.overview($0.shared, $0.tenants)) }
        ),
        Route([.get], "/admin/v1/events", Page(.viewer, .own) { try $0.events() }),
        Route([.get], "/admin/v1/refusals", Page(.viewer, .own) { try $0.refusals() }),
    ]
}

extension AdminCall {
    fileprivate func signIn() async throws -> HTTPResponse {
        // While the audit is out of service, operators still have to look.
        try? await audit(.adminLogin, of: "admin:\(admin.name)", tenants.auditDetails)
        return .admin(me)
    }

    /// Who asks, and whose things they see.
    fileprivate var me: JSONValue {
        let (proof, end): (String, Date?) =
            switch admin.proof {
            case .key: ("key", nil)
            case .openID(let end): ("openID", end)
            case .proxy: ("proxy", nil)
            }
        return .members([
            "name": .text(admin.name), "shownName": .text(admin.shownName), "role": .text(admin.role.rawValue),
            "tenants": .texts(state.tenants.keys.filter(tenants.covers).sorted()),
            "allTenants": .flag(tenants.isAll), "proof": .text(proof), "until": end.map { .date($0) },
            "version": .text(LatchkeyVersion.text), "node": .text(shared.node),
        ])
    }

    /// One overview per second, and each refusal as it happens, as long as whoever asked may see them.
    fileprivate func events() throws(AdminRefusal) -> HTTPResponse {
        let (shared, current, admin, again) = (shared, current, admin, again)
        // Takes the reader's place at once, and gives it back when the body is dropped.
        guard let events = shared.feed.events(in: tenants, { await current().overview(shared, $0) }) else {
            throw AdminRefusal(
                503, "adminEvents", "Too many consoles are open.", "Close one, or ask for the overview instead.")
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

/// An operator who reads events: until the session's end, and as long as the request would be answered the same way.
private struct EventReader {
    private let admin: Operator
    private let again: @Sendable () async throws(AdminRefusal) -> Operator
    private let shared: ServerShared
    private var asked: Duration

    /// How long an answer counts. A sign-out on another node costs a question to the store of sessions.
    private static let interval = Duration.seconds(1)

    /// - Parameters:
    ///   - admin: who it was when the request came.
    ///   - again: who it is now.
    ///   - uptime: when the request came.
    init(
        _ admin: Operator, _ again: @escaping @Sendable () async throws(AdminRefusal) -> Operator,
        _ shared: ServerShared, from uptime: Duration
    ) {
        (self.admin, self.again, self.shared, asked) = (admin, again, shared, uptime)
    }

    /// Whether the next event may be sent. Why not is logged.
    mutating func mayGoOn() async -> Bool {
        if case .openID(let end) = admin.proof, shared.timekeeper.date >= end { return false }
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
    /// - Parameter scope: whose. What is the whole server's, such as threads and times, only an operator of all tenants gets.
    func overview(_ shared: ServerShared, _ scope: TenantScope) async -> JSONValue {
        let sessions = await shared.sessions.counts(of: tenants.keys.sorted()).filter { scope.covers($0.key) }
        let totals = shared.metrics.licenseTotals(scope)
        let pool = shared.pool.admission
        let readiness = shared.readiness(self, scope).report
        return .members([
            "draining": .flag(shared.isDraining), "time": .date(Date()), "node": .text(shared.node),
            "region": shared.engines.settings.region.map { .text($0) },
            "notices": .texts(notices(shared, scope)),
            "seconds": .array(
                shared.counts.latest(in: scope).map { second in
                    .members(
                        ["number": .number(Double(second.number))].merging(
                            second.counts.map { ($0.rawValue, .number($1)) }
                        ) { one, _ in one })
                }),
            "totals": .object(
                Dictionary(
                    uniqueKeysWithValues: LicenseOutcome.allCases.map {
                        ($0.rawValue, .number(Double(totals[$0] ?? 0)))
                    })),
            "reasons": .object(shared.metrics.refusalReasons(scope).mapValues { .number(Double($0)) }),
            "times": .array(
                (scope.isAll ? shared.metrics.licenseTimes : []).map { bound, count in
                    .array([bound.isFinite ? .number(bound) : .null, .number(Double(count))])
                }),
            "sessions": .object(sessions.mapValues { .number($0.value) }),
            "sessionsAtLeast": .texts(sessions.filter { !$0.value.isWhole }.keys.sorted()),
            "readiness": scope.isAll ? readiness.json : .object(["status": .text(readiness.word)]),
            "pending": scope.isAll ? .number(shared.engines.pending?.count ?? 0) : nil,
            "engines": .array(shared.health.all.filter { scope.covers($0.tenant) }.map(\.json)),
            "pool": scope.isAll
                ? .object([
                    "busy": .number(pool.busyThreads), "waiting": .number(pool.waiting), "limit": .number(pool.limit),
                    "overloaded": .flag(pool.isOverloaded),
                ]) : nil,
        ])
    }

    /// What somebody should do something about, the most urgent first.
    private func notices(_ shared: ServerShared, _ scope: TenantScope) -> [String] {
        let date = shared.timekeeper.date
        let limits = tenants.values.filter { scope.covers($0.name) }.sorted { $0.name < $1.name }
            .flatMap { $0.usage.notices($0.name, $0.settings.limits, at: date).map(\.text) }
        let own = (keySetNotices + self.notices).filter { scope.covers($0.tenant) }.map(\.text)
        let away = shared.health.all.filter { $0.isAway && scope.covers($0.tenant) }.compactMap(\.notice)
        return away + (scope.isAll ? serverNotices(shared) : []) + limits + own
    }

    private func serverNotices(_ shared: ServerShared) -> [String] {
        var notices: [String] = []
        if let pending = shared.engines.pending?.count, pending > 0 {
            notices.append(
                "Changes of this node wait for a store: \(pending). They are in force here, and on no other node.")
        }
        if shared.pool.admission.isOverloaded {
            notices.append("More requests come than can be answered; some are shed.")
        }
        if shared.isDraining { notices.append("The node is about to stop.") }
        if let notice = OpenFileLimit.notice { notices.append(notice) }
        if let notice = openID?.notice { notices.append(notice) }
        return notices
    }
}

extension EngineHealth {
    /// A row of the console's table: name, engine, tenant, state, since, the last error.
    fileprivate var json: JSONValue {
        let standing = standing
        return .members([
            "name": .text(name), "words": .text(words), "region": region.map { .text($0) }, "engine": .text(engine),
            "tenant": tenant.map { .text($0) }, "state": .text(word.rawValue),
            "since": standing.since.map { .date($0) }, "answered": standing.lastAnswer.map { .date($0) },
            "error": standing.lastError.map { .text($0.reason.onOneLine) },
        ])
    }

    /// What somebody should do something about. A key set's own words say more.
    fileprivate var notice: String? {
        guard let role = EngineRole(rawValue: name), role != .keySet else { return nil }
        return "\(words)\(tenant.map { " of \($0)" } ?? "") does not answer. \(consequence)"
    }
}
