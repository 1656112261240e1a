import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensing

/// The pages for operators and their tools: health, metrics, the admin API, and the console.
///
/// Health, metrics and the console's own files need no key; this listener is for inside only. Everything below `/admin/v1` needs an
/// operator's. Where an operator is not of all tenants, metrics and the details of `/readyz` need a key, too, because they name tenants: an
/// operator gets their own tenants' metrics.
struct OperatorListener: Sendable {
    let shared: ServerShared
    let state: @Sendable () -> ServerState
    private let admin: AdminAPI
    private let signOn: SignOn
    private let health: HealthListener

    private enum Page {
        case health(HealthListener.Page)
        case admin
        case signOn(SignOn.Page)
        case console
    }

    private static let router = Router<Page>(
        SignOn.routes.map { Route($0.methods, $0.path, .signOn($0.handler)) }
            + HealthListener.routes.map { Route($0.methods, $0.path, .health($0.handler)) } + [
                Route([.get, .post, .put, .delete], "/admin/v1/{page...}", .admin),
                Route([.get, .head], "/{file...}", .console),
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
        health = HealthListener(shared: shared, state: state)
    }

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        var response = await reply(to: request)
        if state().settings.operators.isReachedOverTLS {
            // A year, and this host alone. Source: RFC 6797 §6.1.
            response.headers["Strict-Transport-Security"] = "max-age=31536000"
        }
        return response
    }

    private func reply(to request: HTTPRequest) async -> HTTPResponse {
        switch Self.router.match(request) {
        case .notFound: return .noSuchPath
        case .otherMethod(_, _, let allowed): return .methodNotAllowed(allowed)
        case .found(let route, let path):
            switch route.handler {
            // The key of a request for details or metrics says which tenants they may name.
            case .health(.metrics):
                do throws(AdminRefusal) {
                    return health.reply(to: request, .metrics, try await admin.scope(of: request))
                } catch { return error.response }
            case .health(let page):
                let isAsked = page == .ready && Readiness.isVerbose(request)
                let scope = isAsked ? try? await admin.scope(of: request) : nil
                return health.reply(to: request, page, scope ?? .listed([]))
            case .admin: return await admin.answer(request)
            case .signOn(let page): return await signOn.answer(page, request)
            case .console: return ConsoleFile.response(path["file"])
            }
        }
    }
}
