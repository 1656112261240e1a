import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing

/// The API below `/admin/v1`: everything that operators see and change, as JSON, by bearer keys with roles.
///
/// Every change is in the audit, and so are wrong keys, once a minute for each range of addresses. After ten wrong keys within a minute
/// further wrong ones of the range get 429 for the rest of it; the right key is always let in.
///
/// Source: `Documentation/LicenseServer.md` §9.6.
struct AdminAPI: Sendable {
    /// One address of the API: its role and scope, its parameters and its answers.
    struct Page: Sendable {
        /// The least role.
        let role: AdminRole
        let scope: Scope
        let summary: String
        let query: [AdminQuery]
        let body: JSONValue?
        /// Whether the audit has it before it is done; then a dry run is answered with the entry.
        let isAudited: Bool
        let answers: AdminAnswers
        let answer: @Sendable (AdminCall) async throws -> HTTPResponse
    }

    /// The tenants that an address is about.
    enum Scope: String, Sendable, CaseIterable {
        /// The tenant that the path names as `{tenant}`; to operators of other tenants it does not exist.
        case tenant
        /// The operator's: the answer shows the tenants of ``AdminCall/tenants``, and the whole server to an operator of all.
        case own
        /// The whole server's; for operators of all tenants only.
        case server
    }

    let shared: ServerShared
    let state: @Sendable () -> ServerState
    /// Reloads the configuration, and returns the members that wait for a restart.
    let reload: @Sendable () async throws -> [String]
    let wrongKeys: WrongKeys
    private var signOn: SignOn { SignOn(shared: shared, state: state, wrongKeys: wrongKeys) }

    /// Every address of the API: method, path, least role, scope. The router has no others.
    static let routes =
        overviewRoutes + tenantRoutes + accountRoutes + blockRoutes + decisionRoutes + serverRoutes + reportRoutes
        + erasureRoutes + descriptionRoutes

    static let router = Router(routes)

    /// Answers a request. Never throws: a refusal is an answer.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let (state, id) = (state(), RequestID(of: request, node: shared.nodeName))
        var name: String?
        var response: HTTPResponse
        let refusal: AdminRefusal?
        do throws(AdminRefusal) { (response, refusal) = (try await answer(request, id, state, &name), nil) } catch {
            (response, refusal) = (error.response, error)
        }
        response.headers[.requestID] = id.text
        var entry = LogEntry(response.status >= 500 ? .error : .info, .admin, message: name.map { "By \($0)." })
        entry.end(refusal, status: response.status)
        entry.requestID = id
        entry.address = state.proxies.clientAddress(of: request)
        shared.log.write(entry)
        return response
    }

    /// - Parameter name: gets the operator's name, as soon as it is known.
    private func answer(
        _ request: HTTPRequest, _ id: RequestID, _ state: ServerState, _ name: inout String?
    ) async throws(AdminRefusal) -> HTTPResponse {
        let admin = try await self.admin(of: request, state)
        name = admin.name
        switch Self.router.match(request) {
        case .notFound: throw .unknown("address")
        case .otherMethod(_, _, let allowed): throw .method(allowed)
        case .found(let route, let path):
            let page = route.handler
            guard admin.role >= page.role else { throw .role(page.role) }
            switch page.scope {
            case .tenant where !admin.tenants.covers(path["tenant"]): throw .unknown("tenant")
            case .server where !admin.tenants.isAll: throw .scope
            case .tenant, .server, .own: break
            }
            let call = AdminCall(
                request: request, requestID: id, path: path, admin: admin, shared: shared, state: state,
                current: self.state,
                again: { () async throws(AdminRefusal) in try await self.admin(of: request, self.state()) },
                reload: reload)
            do { return try await page.answer(call) } catch { throw AdminRefusal(error) }
        }
    }

    /// The operator of a request: by the proxy's header, else a key, else a browser's session.
    private func admin(of request: HTTPRequest, _ state: ServerState) async throws(AdminRefusal) -> Operator {
        if let proxy = state.settings.operators.identityProxy {
            do throws(AdminRefusal) {
                if let person = try ProxyIdentity(settings: proxy).person(of: request) { return person }
            } catch {
                try await refuse(error, request, state)
            }
        }
        if request.headers[.authorization] == nil, let person = try await signOn.person(of: request, state) {
            return person
        }
        return try await keyHolder(of: request, state)
    }

    /// Refuses a proxy's header, which is in the audit once a minute for each range of addresses.
    private func refuse(
        _ refusal: AdminRefusal, _ request: HTTPRequest, _ state: ServerState
    ) async throws(AdminRefusal) -> Never {
        let peer = AddressRange(address: request.remoteAddress)
        if wrongKeys.note(peer.map { "proxy:\(AddressCut.limits.range(of: $0))" } ?? "unknown").isForAudit {
            try await shared.audit(
                .adminRefused, of: "admin", by: "address:\(peer?.description ?? "unknown")", ["code": refusal.code])
        }
        throw refusal
    }

    /// The tenants whose figures a request may see: all without a key, as long as all operators are of all tenants.
    func scope(of request: HTTPRequest) async throws(AdminRefusal) -> TenantScope {
        let state = state()
        guard state.settings.hasOperatorsOfSomeTenants else { return .all }
        return try await admin(of: request, state).tenants
    }

    /// The operator whose key a request brings; compared by digest, in a time that does not depend on the key.
    private func keyHolder(
        of request: HTTPRequest, _ state: ServerState
    ) async throws(AdminRefusal) -> Operator {
        guard let field = request.headers[.authorization], field.lowercased().hasPrefix("bearer "),
            let sent = try? CallerCredential(.bearer, secret: Secret(String(field.dropFirst(7))))
        else { throw .keyMissing }
        let found = state.settings.admins.filter { CallerCredential(.bearer, sha256: $0.key)?.matches(sent) == true }
        // Before anything is counted: wrong keys of another client at the same address do not lock an operator out.
        if let admin = found.first { return admin.identity }
        let address = state.proxies.clientAddress(of: request)
        let verdict = wrongKeys.note(address.map { AddressCut.limits.range(of: $0).description } ?? "unknown")
        if verdict.isBeyondLimit { shared.metrics.rateLimited[RateScope.address.rawValue].add() }
        if verdict.isForAudit {
            try await shared.audit(.adminRefused, of: "admin", by: "address:\(address?.description ?? "unknown")")
        }
        throw verdict.isBeyondLimit ? .tooManyKeys : .keyMissing
    }
}

extension Route<AdminAPI.Page> {
    /// An address of the API.
    /// - Parameters:
    ///   - path: the path below `/admin/v1`.
    ///   - scope: whose things it is about; without it the tenant's that the path names, else the operator's.
    static func page(
        _ method: HTTPMethod, _ path: String, _ role: AdminRole, of scope: AdminAPI.Scope? = nil, _ summary: String,
        query: [AdminQuery] = [], body: JSONValue? = nil, isAudited: Bool = false, _ answers: AdminAnswers,
        _ answer: @escaping @Sendable (AdminCall) async throws -> HTTPResponse
    ) -> Self {
        let scope = scope ?? (path.contains("{tenant}") ? .tenant : .own)
        let page = AdminAPI.Page(
            role: role, scope: scope, summary: summary, query: query, body: body, isAudited: isAudited,
            answers: answers, answer: answer)
        return Route([method], PathPattern("/admin/v1\(path)"), page)
    }
}

/// Counts wrong keys by the range of addresses that they came from: a /24, or a /56 of version 6.
final class WrongKeys: Sendable {
    /// The treatment of a wrong key.
    struct Verdict: Equatable {
        /// Whether ten wrong keys came from the range before it, within the minute.
        let isBeyondLimit: Bool
        /// Whether the audit gets an entry: for the first of a range within the minute.
        let isForAudit: Bool
    }

    private struct Count {
        var began: Duration
        var number: Int
    }

    private struct State {
        var counts = BoundedDictionary<String, Count>(limit: 10_000)
        /// The entries of the audit for all ranges.
        var audited = Count(began: .zero, number: 0)
    }

    private let timekeeper: any Timekeeper
    private let state = Locked(State())
    private static let most = 10
    /// The most entries of the audit within a minute: a client with many ranges must not fill it.
    static let mostAudited = 60
    private static let period = Duration.seconds(60)

    init(timekeeper: any Timekeeper = SystemTimekeeper()) { self.timekeeper = timekeeper }

    /// Counts a wrong key.
    func note(_ range: String) -> Verdict {
        let now = timekeeper.uptime
        return state.withLock { state in
            var count = state.counts[range] ?? Count(began: now, number: 0)
            if now - count.began >= Self.period { count = Count(began: now, number: 0) }
            count.number += 1
            state.counts.updateValue(count, forKey: range)
            if now - state.audited.began >= Self.period { state.audited = Count(began: now, number: 0) }
            let isForAudit = count.number == 1 && state.audited.number < Self.mostAudited
            if isForAudit { state.audited.number += 1 }
            return Verdict(isBeyondLimit: count.number > Self.most, isForAudit: isForAudit)
        }
    }
}
