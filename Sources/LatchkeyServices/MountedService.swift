import LatchkeyDecision
import LatchkeyHTTP

/// A service and its routes.
struct MountedService: Sendable {
    let service: any VendorService
    private let router: Router<ServiceHandler>

    init(_ service: any VendorService) {
        self.service = service
        router = Router(service.routes)
    }

    /// The route of a request.
    func match(_ request: HTTPRequest) -> Router<ServiceHandler>.Match { router.match(request) }

    func respond(to request: HTTPRequest) async -> HTTPResponse { await respond(to: request, by: match(request)) }

    /// - Parameter match: the request's route.
    func respond(to request: HTTPRequest, by match: Router<ServiceHandler>.Match) async -> HTTPResponse {
        switch match {
        case .found(let route, let parameters):
            return await respond(to: request, parameters, route.handler)
        case .otherMethod(let route, let parameters, let allowed):
            let refusing = ServiceHandler(route.handler.endpoint) { call throws(LicenseRefusal) in
                throw .method(call.request.method.rawValue, allowed: allowed.map(\.rawValue))
            }
            return await respond(to: request, parameters, refusing)
        case .notFound:
            return .noSuchPath
        }
    }

    private func respond(
        to request: HTTPRequest, _ parameters: PathParameters, _ handler: ServiceHandler
    ) async -> HTTPResponse {
        guard request.body.count <= ServiceCall.bodyBytes else {
            return .text("The body is larger than that of any license request.", status: 413)
        }
        let environment = service.environment
        let call = ServiceCall(
            request, parameters, handler, of: service.identifier, environment,
            fault: environment.faults.next(at: handler.endpoint))
        var response = await service.respond(to: call)
        if call.fault == .wrongContentType { response.headers[.contentType] = "text/html" }
        response.headers[.requestID] = call.id
        return response
    }
}
