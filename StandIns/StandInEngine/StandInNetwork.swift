public import Foundation
import LatchkeyCore
import LatchkeyTransport

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The HTTP of stand-ins. Like players, it follows redirects. A request completes even if it was abandoned.
public enum StandInNetwork {
    /// A reply, whatever its status.
    public struct Reply: Sendable {
        /// The final URL.
        public let url: String
        /// The HTTP status.
        public let status: Int
        /// The header fields.
        public let headers: [(name: String, value: String)]
        /// The body.
        public let body: Data
    }

    private static let client = CurlClient()
    private static let longestWay = 16

    /// Sends a request.
    /// - Parameters:
    ///   - limit: the maximum size of the body in bytes.
    ///   - answer: receives the result once, on a thread that it must not block. Errors are `URLError`s.
    public static func send(
        _ request: URLRequest, limit: Int, answer: @escaping @Sendable (Result<Reply, URLError>) -> Void
    ) {
        send(request, limit, redirects: longestWay, answer)
    }

    /// The reply to a request. A cancelled task stops waiting for it.
    /// - Parameter limit: the maximum size of the body in bytes.
    public static func reply(to request: URLRequest, limit: Int) async throws -> Reply {
        try await Promise<Reply, any Error>.value { reply in
            send(request, limit: limit) { reply.resolve($0.mapError { $0 as any Error }) }
        }
    }

    private static func send(
        _ request: URLRequest, _ limit: Int, redirects: Int,
        _ answer: @escaping @Sendable (Result<Reply, URLError>) -> Void
    ) {
        client.send(request, bodyLimit: limit) { result in
            switch result {
            case .success(let reply):
                guard let next = next(after: reply, to: request) else {
                    let url = reply.url?.absoluteString ?? ""
                    return answer(
                        .success(Reply(url: url, status: reply.status, headers: reply.headers, body: reply.body)))
                }
                guard redirects > 0 else { return answer(.failure(URLError(.httpTooManyRedirects))) }
                send(next, limit, redirects: redirects - 1, answer)
            case .failure(let error): answer(.failure(URLError(error)))
            }
        }
    }

    /// The request for a redirect; `nil` if the reply is not a redirect.
    private static func next(after reply: CurlReply, to request: URLRequest) -> URLRequest? {
        let location = reply.headers.first { $0.name.lowercased() == "location" }?.value
        guard [301, 302, 303, 307, 308].contains(reply.status), let location,
            let url = URL(string: location, relativeTo: request.url)?.absoluteURL
        else { return nil }
        var next = request
        next.url = url
        if reply.status < 307, request.httpMethod == "POST" || reply.status == 303 {
            next.httpMethod = "GET"
            next.httpBody = nil
        }
        return next
    }
}

extension URLError {
    /// The number that a player shows for a request without a reply.
    fileprivate init(_ error: any Error) {
        switch (error as? TransportError)?.kind {
        case .timedOut: self.init(.timedOut)
        case .hostNotFound: self.init(.cannotFindHost)
        case .cannotConnect: self.init(.cannotConnectToHost)
        case .offline: self.init(.notConnectedToInternet)
        case .connectionLost: self.init(.networkConnectionLost)
        case .tlsFailed, .serverWithoutTLS: self.init(.secureConnectionFailed)
        case .serverCertificateUntrusted, .serverNameMismatch: self.init(.serverCertificateUntrusted)
        case .serverCertificateExpired: self.init(.serverCertificateHasBadDate)
        case .replyMalformed, .headTooLarge: self.init(.cannotParseResponse)
        case .bodyTooLarge: self.init(.dataLengthExceedsMaximum)
        case .requestMalformed: self.init(.badURL)
        default: self.init(error is CancellationError ? .cancelled : .unknown)
        }
    }
}
