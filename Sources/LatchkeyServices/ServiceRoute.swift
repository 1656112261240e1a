import LatchkeyDecision
public import LatchkeyHTTP

/// A path of a vendor's service.
public typealias ServiceRoute = Route<ServiceHandler>

/// A vendor's service's handler for the requests to a path.
public struct ServiceHandler: Sendable {
    /// The purpose of the requests.
    public let endpoint: ServiceEndpoint
    package let answer: Answer

    package init(_ endpoint: ServiceEndpoint, _ answer: @escaping Answer) {
        self.endpoint = endpoint
        self.answer = answer
    }
}

extension Route<ServiceHandler> {
    package static func certificate(
        _ path: PathPattern,
        _ answer: @escaping ServiceHandler.Answer = { call throws(LicenseRefusal) in try call.certificateFile() }
    ) -> ServiceRoute {
        Route([.get, .head], path, ServiceHandler(.certificate, answer))
    }

    package static func license(_ path: PathPattern, _ answer: @escaping ServiceHandler.Answer) -> ServiceRoute {
        .endpoint(.license, [.post], path, answer)
    }

    package static func endpoint(
        _ endpoint: ServiceEndpoint, _ methods: [HTTPMethod], _ path: PathPattern,
        _ answer: @escaping ServiceHandler.Answer
    ) -> ServiceRoute {
        Route(methods, path, ServiceHandler(endpoint, answer))
    }
}
