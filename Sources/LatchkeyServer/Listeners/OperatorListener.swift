import LatchkeyCore
import LatchkeyHTTP
import LatchkeyOperation

/// What operators and their tools see: health, metrics, the admin API, and the console.
///
/// Health, metrics and the console's own files need no key; this listener is for inside only. Everything below `/admin/v1` needs an
/// operator's. Where an operator is not of all tenants, metrics and the details of `/readyz` need a key, too, because they name tenants: an
/// operator gets their own tenants' metrics.
struct OperatorListener: Sendable {
    let shared: ServerShared
    let state: @Sendable () -> ServerState
    private let admin: AdminAPI
    private let signOn: SignOn

    private enum Page {
        case alive, ready, metrics
        case admin
        case signOn(SignOn.Page)
        case console
    }

    private static let router = Router<Page>(
        SignOn.routes.map { Route($0.methods, $0.path, .signOn($0.handler)) } + [
            Route([.get, .head], "/livez", .alive), Route([.get, .head], "/healthz", .alive),
            Route([.get, .head], "/readyz", .ready), Route([.get, .head], "/metrics", .metrics),
            Route([.get, .post, .delete], "/admin/v1/{page...}", .admin), Route([.get, .head], "/{file...}", .console),
        ])

    init(
        shared: ServerShared, state: @escaping @Sendable () -> ServerState,
        reload: @escaping @Sendable () async throws -> [String]
    ) {
        self.shared = shared
        self.state = state
        let wrongKeys = WrongKeys(timekeeper: shared.timekeeper)
        signOn = SignOn(shared: shared, state: state, wrongKeys: wrongKeys)
        admin = AdminAPI(shared: shared, state: state, reload: reload, wrongKeys: wrongKeys)
    }

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        switch Self.router.match(request) {
        case .notFound: return .noSuchPath
        case .otherMethod(_, _, let allowed): return .methodNotAllowed(allowed)
        case .found(let route, let path):
            switch route.handler {
            case .alive: return Readiness.alive
            case .ready:
                var showsDetails = false
                if Readiness.isVerbose(request) { showsDetails = (try? await admin.scope(of: request))?.isAll == true }
                return shared.readiness(state()).response(to: request, showsDetails: showsDetails)
            case .metrics:
                shared.sessions.refresh(state().tenants.keys.sorted())
                do throws(AdminRefusal) {
                    return shared.metrics.response(to: request, try await admin.scope(of: request))
                } catch { return error.response }
            case .admin: return await admin.answer(request)
            case .signOn(let page): return await signOn.answer(page, request)
            case .console: return ConsoleFile.response(path["file"])
            }
        }
    }
}
