import CMicroHTTPD
import Foundation

/// One client's connection from its first byte to its last.
// Sound because `number`, `phase`, `since` and `isClosing` are touched under `OpenConnections`' lock only, and `exchange` in
// libmicrohttpd's callbacks only, of which there are never two at once for a connection.
final class ClientConnection: @unchecked Sendable {
    /// What the connection waits for.
    enum Phase {
        /// The client, for a request's line and header fields. A connection that is kept open between requests waits for this, too.
        case head
        /// The client, for a request's body.
        case body
        /// The server, for an answer.
        case answer
        /// The client, to take the reply.
        case reply

        /// How much longer than others a connection keeps its place while it waits for this; `nil` if it waits for the server.
        fileprivate var grace: Duration? {
            switch self {
            // The same for both: otherwise bodies that never come would outlive clients that have just connected.
            case .head, .body: .seconds(1)
            case .reply: .seconds(5)
            case .answer: nil
            }
        }
    }

    let socket: Int32
    let address: NetworkAddress
    /// The client's address as text, without its port; empty if it is unknown.
    let addressText: String
    /// What its handshake shows; `nil` for plain HTTP. It lives as long as the connection.
    let identity: TLSIdentity?
    let leaderSleep: LeaderSleep
    /// The number of the connection, counted from 1 by the server.
    var number = 0
    var phase = Phase.head
    var since: Duration
    var isClosing = false
    /// Guards what tasks share of the connection's exchanges, one at a time; so that no request makes a lock.
    let exchangeLock = NSLock()
    /// The exchange that is open on the connection.
    var exchange: HTTPExchange?

    /// - Parameters:
    ///   - identity: what its handshake shows; `nil` for plain HTTP.
    ///   - leaderSleep: the daemon's.
    ///   - now: when the client connected.
    init(
        socket: Int32, address: UnsafePointer<sockaddr>?, identity: TLSIdentity?, leaderSleep: LeaderSleep,
        at now: Duration
    ) {
        self.identity = identity
        self.leaderSleep = leaderSleep
        self.socket = socket
        self.address = NetworkAddress(address)
        addressText = address.map(SocketAddress.text) ?? ""
        since = now
    }

    /// The time from which the connection may be closed to make room; the earliest goes first. `nil` while an answer is made.
    var yields: Duration? { isClosing ? nil : phase.grace.map { since + $0 } }

    /// Writes a reply past libmicrohttpd, which closes the connection without one. Writes only what the socket takes at once.
    func send(_ response: HTTPResponse) {
        guard let body = response.bytes else { return }
        var text = "HTTP/1.1 \(response.status) \(HTTPResponse.reason(of: response.status))\r\n"
        for field in response.headers.fields { text += "\(field.name): \(field.value)\r\n" }
        let bytes = Data((text + "Content-Length: \(body.count)\r\n\r\n").utf8) + body
        _ = bytes.withUnsafeBytes { latchkey_send_now(socket, $0.baseAddress, $0.count) }
    }
}
