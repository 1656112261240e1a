import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyServer

/// What operators and their tools see: health, metrics, and why a request was refused.
///
/// Health and metrics need no key; this listener is for inside only. Everything below `/admin/v1` needs an operator's.
struct OperatorListener: Sendable {
    let shared: ServerShared
    let state: @Sendable () -> ServerState
    let reload: @Sendable () async throws -> Void

    /// What is asked, and the role that it needs.
    private enum Page {
        case alive, ready, metrics
        case decision
        case reload

        var role: AdminRole? {
            switch self {
            case .alive, .ready, .metrics: nil
            case .decision: .viewer
            case .reload: .operator
            }
        }
    }

    private static let router = Router<Page>([
        Route([.get, .head], "/livez", .alive), Route([.get, .head], "/healthz", .alive),
        Route([.get, .head], "/readyz", .ready), Route([.get, .head], "/metrics", .metrics),
        Route([.get], "/admin/v1/tenants/{tenant}/decisions/{request}", .decision),
        Route([.post], "/admin/v1/reload", .reload),
    ])

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        switch Self.router.match(request) {
        case .notFound: return .noSuchPath
        case .otherMethod(_, _, let allowed): return .methodNotAllowed(allowed)
        case .found(let route, let path):
            if let role = route.handler.role {
                guard let admin = admin(of: request) else { return .text("Send an operator's key.", status: 401) }
                guard admin.role >= role else { return .text("This needs the role \(role.rawValue).", status: 403) }
            }
            return await answer(route.handler, request, path)
        }
    }

    private func answer(_ page: Page, _ request: HTTPRequest, _ path: PathParameters) async -> HTTPResponse {
        switch page {
        case .alive: return Readiness.alive
        case .ready: return readiness.response(to: request)
        case .metrics: return shared.metrics.response(to: request)
        case .decision:
            guard let record = shared.decisions.record(of: path["request"], at: path["tenant"]) else {
                return .text("This node knows no such request.", status: 404)
            }
            return HTTPResponse(contentType: "application/json", bytes: record.canonicalJSON)
        case .reload:
            do { try await reload() } catch {
                return .text((error as? any DiagnosableError)?.reason ?? "It failed.", status: 422)
            }
            return HTTPResponse(status: 204)
        }
    }

    /// Whose key a request brings; compared by digest, in a time that does not depend on the key.
    private func admin(of request: HTTPRequest) -> ServerSettings.Admin? {
        guard let field = request.headers[.authorization], field.lowercased().hasPrefix("bearer "),
            let sent = try? CallerCredential(.bearer, secret: Secret(String(field.dropFirst(7))))
        else { return nil }
        let admins = state().settings.admins
        return admins.filter { CallerCredential(.bearer, sha256: $0.key)?.matches(sent) == true }.first
    }

    private var readiness: Readiness {
        let (shared, state) = (shared, state())
        return Readiness([
            .init("draining") { shared.isDraining ? "the node is about to stop" : nil },
            .init("credentials") { state.licensee.module.credentials.isEmpty ? "there are no credentials" : nil },
            shared.saturation.check("pool"),
            .init("tenants") { state.tenants.isEmpty ? "there are no tenants" : nil },
        ])
    }
}
