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
        var headers: HTTPHeaders = [.contentType: request.contentType]
        headers[.authorization] = request.token.map { "Bearer \($0.revealedText)" }
        let response = await handler(
            HTTPRequest(
                method: .post, target: request.url.path, headers: headers, body: request.body,
                remoteAddress: "127.0.0.1"))
        guard let bytes = response.bytes else { return .none("the connection was reset") }
        return LoadReply(status: response.status, body: bytes) { response.headers[HTTPHeaderName($0)] }
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
