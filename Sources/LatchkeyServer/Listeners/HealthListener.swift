import LatchkeyHTTP
import LatchkeyLicensing

/// Health and metrics alone, over plain HTTP and without keys: for balancers, probes and Prometheus.
///
/// Its address is for inside only: metrics and the details of `/readyz` name tenants. It stays as it is when the operators' listener gets a
/// certificate, or some operator is not of all tenants.
///
/// Source: `Documentation/Server/Operations.md` §1.
struct HealthListener: Sendable {
    enum Page { case alive, ready, metrics }

    static let routes: [Route<Page>] = [
        Route([.get, .head], "/livez", .alive), Route([.get, .head], "/healthz", .alive),
        Route([.get, .head], "/readyz", .ready), Route([.get, .head], "/metrics", .metrics),
    ]
    private static let router = Router(routes)

    let shared: ServerShared
    let state: @Sendable () -> ServerState

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch Self.router.match(request) {
        case .notFound: .noSuchPath
        case .otherMethod(_, _, let allowed): .methodNotAllowed(allowed)
        case .found(let route, _): reply(to: request, route.handler, .all)
        }
    }

    /// - Parameter scope: the tenants that the reply may name.
    func reply(to request: HTTPRequest, _ page: Page, _ scope: TenantScope) -> HTTPResponse {
        switch page {
        case .alive: return Readiness.alive
        case .ready: return shared.readiness(state()).response(to: request, showsDetails: scope.isAll)
        case .metrics:
            shared.sessions.refresh(state().tenants.keys.sorted())
            return shared.metrics.response(to: request, scope)
        }
    }
}
