import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyServer

/// What is below `/admin/v1`: everything that operators see and change, as JSON, by bearer keys with roles.
///
/// A wrong key and every change is in the audit. After ten wrong keys within a minute an address is not listened to for the rest
/// of it.
///
/// Source: `Documentation/LicenseServer.md` §9.6.
struct AdminAPI: Sendable {
    /// One address of the API.
    struct Page: Sendable {
        let role: AdminRole
        let answer: @Sendable (AdminCall) async throws -> HTTPResponse

        init(_ role: AdminRole, _ answer: @escaping @Sendable (AdminCall) async throws -> HTTPResponse) {
            self.role = role
            self.answer = answer
        }
    }

    let shared: ServerShared
    let state: @Sendable () -> ServerState
    /// Reads the configuration again, and returns what waits for a restart.
    let reload: @Sendable () async throws -> [String]
    let wrongKeys: WrongKeys

    /// Every address of the API.
    static let router = Router(
        overviewRoutes + tenantRoutes + accountRoutes + decisionRoutes + serverRoutes)

    /// Answers a request. Never throws: a refusal is an answer.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        let state = state()
        let (response, name) = await answer(request, state)
        var entry = LogEntry(response.status >= 500 ? .error : .info, .admin, message: name.map { "By \($0)." })
        (entry.status, entry.address) = (response.status, state.proxies.clientAddress(of: request))
        entry.outcome = response.status < 400 ? "ok" : "refused"
        shared.log.write(entry)
        return response
    }

    private func answer(_ request: HTTPRequest, _ state: ServerState) async -> (HTTPResponse, String?) {
        let admin: ServerSettings.Admin
        do throws(AdminRefusal) { admin = try await self.admin(of: request, state) } catch {
            var response = error.response
            response.headers["WWW-Authenticate"] = error.status == 401 ? "Bearer" : nil
            response.headers[.retryAfter] = error.status == 429 ? "60" : nil
            return (response, nil)
        }
        switch Self.router.match(request) {
        case .notFound: return (AdminRefusal.unknown("address").response, admin.name)
        case .otherMethod(_, _, let allowed): return (.methodNotAllowed(allowed), admin.name)
        case .found(let route, let path):
            guard admin.role >= route.handler.role else {
                return (AdminRefusal.role(route.handler.role).response, admin.name)
            }
            let call = AdminCall(
                request: request, path: path, admin: admin, shared: shared, state: state, current: self.state,
                reload: reload)
            do { return (try await route.handler.answer(call), admin.name) } catch {
                return (AdminRefusal(error).response, admin.name)
            }
        }
    }

    /// Whose key a request brings; compared by digest, in a time that does not depend on the key.
    private func admin(
        of request: HTTPRequest, _ state: ServerState
    ) async throws(AdminRefusal) -> ServerSettings.Admin {
        let address = state.proxies.clientAddress(of: request)?.description ?? "unknown"
        guard !wrongKeys.isBeyondLimit(address) else {
            shared.metrics.rateLimited[RateScope.address.rawValue].add()
            throw .tooManyKeys
        }
        guard let field = request.headers[.authorization], field.lowercased().hasPrefix("bearer "),
            let sent = try? CallerCredential(.bearer, secret: Secret(String(field.dropFirst(7))))
        else { throw .keyMissing }
        let found = state.settings.admins.filter { CallerCredential(.bearer, sha256: $0.key)?.matches(sent) == true }
        guard let admin = found.first else {
            wrongKeys.note(address)
            try await shared.audit(.adminRefused, of: "admin", by: "address:\(address)")
            throw .keyMissing
        }
        return admin
    }
}

/// The addresses that wrong keys came from lately.
final class WrongKeys: Sendable {
    private struct Count {
        var began: Duration
        var number: Int
    }

    private let timekeeper: any Timekeeper
    private let counts = Locked(BoundedDictionary<String, Count>(limit: 10_000))
    private static let most = 10
    private static let period = Duration.seconds(60)

    init(timekeeper: any Timekeeper = SystemTimekeeper()) { self.timekeeper = timekeeper }

    /// Whether ten wrong keys came from an address within the last minute.
    func isBeyondLimit(_ address: String) -> Bool {
        let now = timekeeper.uptime
        return counts.withLock { counts in
            counts[address].map { now - $0.began < Self.period && $0.number >= Self.most } ?? false
        }
    }

    /// Counts a wrong key.
    func note(_ address: String) {
        let now = timekeeper.uptime
        counts.withLock { counts in
            var count = counts[address] ?? Count(began: now, number: 0)
            if now - count.began >= Self.period { count = Count(began: now, number: 0) }
            count.number += 1
            counts.updateValue(count, forKey: address)
        }
    }
}
