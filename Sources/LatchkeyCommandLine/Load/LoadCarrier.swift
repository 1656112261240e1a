import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request of a simulated device.
struct LoadRequest: Sendable {
    let url: URL
    /// `Authorization: Bearer`; `nil` sends none.
    let token: Secret?
    let contentType: String
    let body: Data

    /// The request as a server takes it.
    var http: HTTPRequest {
        var headers: HTTPHeaders = [.contentType: contentType]
        headers[.authorization] = token.map { "Bearer \($0.revealedText)" }
        let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        return HTTPRequest(
            method: .post, target: url.path(percentEncoded: true) + query, headers: headers, body: body,
            remoteAddress: "127.0.0.1")
    }
}

/// Carries a load's requests to the server.
protocol LoadCarrier: Sendable {
    /// Sends a request. A failure is a reply, with its cause.
    func send(_ request: LoadRequest, within limit: Duration) async -> LoadReply
}

/// Hands requests to a server in the same process.
struct HandlerCarrier: LoadCarrier {
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse

    func send(_ request: LoadRequest, within limit: Duration) async -> LoadReply {
        LoadReply(.success(await handler(request.http)))
    }
}

/// Carries requests over the system's HTTP client, which speaks TLS.
struct TransportCarrier: LoadCarrier {
    let transport: any Transport

    func send(_ request: LoadRequest, within limit: Duration) async -> LoadReply {
        var sent = URLRequest(url: request.url, timeoutInterval: limit.inSeconds)
        sent.httpMethod = "POST"
        sent.httpBody = request.body
        sent.setValue(request.contentType, forHTTPHeaderField: "Content-Type")
        if let token = request.token {
            sent.setValue("Bearer \(token.revealedText)", forHTTPHeaderField: "Authorization")
        }
        do {
            let reply = try await transport.send(sent, bodyLimit: 1 << 20)
            return LoadReply(status: reply.status, body: reply.body) { reply.header($0) }
        } catch let error as any DiagnosableError {
            return .none(error.code)
        } catch {
            return .none("no reply")
        }
    }
}
