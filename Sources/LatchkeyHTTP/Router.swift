/// One path, the methods that it takes, and its handler.
///
///     let router = Router<HTTPHandler>([
///         .get("/health") { _, _ in .text("ok") },
///         .post("/v1/license/{content}") { request, path in await license(request, content: path["content"]) },
///     ])
///     let server = HTTPServer { await router.respond(to: $0) }
public struct Route<Handler: Sendable>: Sendable {
    /// The methods in the order of `Allow`.
    public let methods: [HTTPMethod]
    /// The path.
    public let path: PathPattern
    /// The handler.
    public let handler: Handler
    fileprivate var condition: (@Sendable (PathParameters) -> Bool)?

    /// - Parameters:
    ///   - methods: the methods in the order of `Allow`.
    ///   - path: the path.
    ///   - handler: the handler.
    public init(_ methods: [HTTPMethod], _ path: PathPattern, _ handler: Handler) {
        self.methods = methods
        self.path = path
        self.handler = handler
    }

    /// The route for those of its paths whose parameters meet a condition. Other paths are not found.
    public func when(_ condition: @escaping @Sendable (PathParameters) -> Bool) -> Route {
        var route = self
        route.condition = condition
        return route
    }

    /// The route with another handler, under the same condition.
    package func answering<Other>(_ handler: Other) -> Route<Other> {
        var route = Route<Other>(methods, path, handler)
        route.condition = condition
        return route
    }
}

/// Finds the route of a request.
public struct Router<Handler: Sendable>: Sendable {
    /// The result of a search.
    public enum Match: Sendable {
        /// A route for path and method.
        case found(Route<Handler>, PathParameters)
        /// A route for the path, and the methods that the path takes, but not the request's.
        case otherMethod(Route<Handler>, PathParameters, allowed: [HTTPMethod])
        /// No route for the path.
        case notFound
    }

    /// The routes. Of several for one request the first counts.
    public let routes: [Route<Handler>]
    private let paths: RoutePaths

    /// - Parameter routes: the routes. Of several for one request the first counts.
    public init(_ routes: [Route<Handler>]) {
        self.routes = routes
        paths = RoutePaths(paths: routes.map { ($0.methods, $0.path, $0.condition) })
    }

    /// Finds the route of a request by its path without percent escapes and its method.
    public func match(_ request: HTTPRequest) -> Match {
        switch paths.match(request) {
        case .found(let number, let parameters): .found(routes[number], parameters)
        case .otherMethod(let number, let parameters, let allowed):
            .otherMethod(routes[number], parameters, allowed: allowed)
        case nil: .notFound
        }
    }
}

/// The paths and methods of a router's routes, without the handlers: code for any handler is several times slower.
private struct RoutePaths: Sendable {
    typealias Path = (
        methods: [HTTPMethod], pattern: PathPattern, condition: (@Sendable (PathParameters) -> Bool)?
    )

    /// The number of a route, as in `Router.Match`.
    enum Match {
        case found(Int, PathParameters)
        case otherMethod(Int, PathParameters, allowed: [HTTPMethod])
    }

    let paths: [Path]

    func match(_ request: HTTPRequest) -> Match? {
        let segments = PathPattern.segments(of: request.path)
        var other: (number: Int, parameters: PathParameters)?
        var allowed: [HTTPMethod] = []
        for (number, path) in paths.enumerated() {
            guard let parameters = path.pattern.match(segments), path.condition?(parameters) ?? true else { continue }
            if path.methods.contains(request.method) { return .found(number, parameters) }
            if other == nil { other = (number, parameters) }
            allowed += path.methods
        }
        return other.map { .otherMethod($0.number, $0.parameters, allowed: allowed) }
    }
}

/// Answers a request, given the values of the names in the route's path.
public typealias HTTPHandler = @Sendable (HTTPRequest, PathParameters) async -> HTTPResponse

extension Route<HTTPHandler> {
    /// A path to `GET` and `HEAD`.
    public static func get(_ path: PathPattern, _ handler: @escaping HTTPHandler) -> Route {
        Route([.get, .head], path, handler)
    }

    /// A path to `POST` to.
    public static func post(_ path: PathPattern, _ handler: @escaping HTTPHandler) -> Route {
        Route([.post], path, handler)
    }
}

extension Router<HTTPHandler> {
    /// The answer of the request's route; 404 for a path that no route has, 405 with `Allow` for another method.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        switch match(request) {
        case .found(let route, let parameters): await route.handler(request, parameters)
        case .otherMethod(_, _, let allowed): .methodNotAllowed(allowed)
        case .notFound: .noSuchPath
        }
    }
}

extension HTTPResponse {
    /// The reply to an unknown path: 404.
    public static let noSuchPath = HTTPResponse.text("There is no such path.", status: 404)

    /// The reply to a method that a path does not take: 405 with `Allow`.
    public static func methodNotAllowed(_ allowed: [HTTPMethod]) -> HTTPResponse {
        HTTPResponse(status: 405, headers: [.allow: allowed.map(\.rawValue).joined(separator: ", ")])
    }
}
