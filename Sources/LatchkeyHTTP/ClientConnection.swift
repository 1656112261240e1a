import Foundation
import LatchkeyCore

/// One client's connection, as everything but its loop sees it.
// Sound because `number`, `phase`, `since`, `lastProgress`, `isNew`, `isReading` and `isClosing` are written under `OpenConnections`' lock only, and everything
// that `ClientConnection+Reading` and `+Writing` touch by the thread that runs the loop only.
final class ClientConnection: @unchecked Sendable {
    /// The event that the connection waits for.
    enum Phase {
        /// The client, for a request's line and header fields.
        case head
        /// The client, for the first byte of a further request.
        case idle
        /// The client, for a request's body.
        case body
        /// The server, for an answer.
        case answer
        /// The client, to take the reply.
        case reply
        /// The server, for more of a body that is made while it is sent.
        case stream
        /// The client, to end a connection that the server has ended.
        case leaving

        /// How much longer than others a connection keeps its place while it waits for this; `nil` if it waits for the server.
        fileprivate var grace: Duration? {
            switch self {
            // The same for all: otherwise bodies that never come, or replies that are never read, would outlive clients that have just
            // connected.
            case .head, .idle, .body, .reply: .seconds(1)
            case .stream: .seconds(5)
            case .leaving: .zero
            case .answer: nil
            }
        }
    }

    /// A connection's next step, in its loop.
    enum Stage { case handshake, head, body, answer, reply, leaving, closed }

    let socket: Int32
    let address: NetworkAddress
    /// The client's address as text, without its port; empty if it is unknown.
    let addressText: String
    let loop: ServerLoop
    let limits: HTTPServerConfiguration
    /// The number of the connection, counted from 1 by the server.
    var number: UInt64 = 0
    var phase = Phase.head
    /// When the wait began.
    var since: Duration
    /// When the client last sent or took bytes of a body or a reply.
    var lastProgress: Duration
    /// Whether nothing of a first request was read but part of its head.
    var isNew = true
    /// Whether the server takes, or has, bytes of a head that it has not looked at.
    var isReading = false
    var isClosing = false
    /// Guards the state that tasks share of the connection's exchanges, one at a time; so that no request makes a lock.
    let exchangeLock = NSLock()

    // The loop's from here.
    let tls: TLSSession?
    var stage: Stage
    /// Whether it waits in its loop for its next turn.
    var isQueued = false
    /// The bytes read and sent in its turn.
    var moved = 0
    /// Whether the client was sent a part of the reply.
    var hasSent = false
    /// Whether another thread does the next step of the handshake.
    var isShakingHands = false
    /// The outcome of that step; written before the loop is notified.
    var handshake: TLSSession.Outcome?
    /// The socket's readiness, as far as it is known. A client that shakes hands speaks first.
    var canRead: Bool
    var canWrite = true
    /// The other end has ended the connection, or its half of it.
    var hasPeerEnded = false
    /// The bytes that have arrived and are not read, from `inputStart` on.
    var input: [UInt8] = []
    var inputStart = 0
    /// The bytes to send, from `outputStart` on.
    var output: [UInt8] = []
    var outputStart = 0
    var scan = HeadScan()
    var head: RequestHead?
    var chunks: ChunkedBody?
    /// How many bytes of a body with a stated length have not arrived.
    var bodyLeft: UInt64 = 0
    var body = Data()
    /// How many bytes of the body have arrived, or after a refusal how many were thrown away.
    var received = 0
    var exchange: HTTPExchange?
    var reply: OutgoingReply?

    /// - Parameters:
    ///   - tls: `nil` for plain HTTP.
    ///   - now: when the client connected.
    init(socket: Int32, address: UnsafePointer<sockaddr>, tls: TLSSession?, loop: ServerLoop, at now: Duration) {
        (self.socket, self.tls, self.loop) = (socket, tls, loop)
        limits = loop.daemon.configuration
        self.address = NetworkAddress(address)
        addressText = SocketAddress.text(of: address)
        (stage, canRead) = tls == nil ? (.head, true) : (.handshake, false)
        (since, lastProgress) = (now, now)
    }

    /// The time from which the connection may be closed to make room; the earliest goes first. `nil` while an answer is made.
    var yields: Duration? { isClosing ? nil : phase.grace.map { since + $0 } }

    /// How long a client that has connected may take to send its first request before it counts as one that waits.
    static let arrival = Duration.milliseconds(100)

    /// Whether the first request may be on its way.
    var hasJustArrived: Bool { isNew && loop.daemon.time.uptime < since + Self.arrival }

    /// Continues the connection in its loop. Any thread may call it.
    func goOn() { loop.inbox.goOn(self) }

    func enter(_ phase: Phase) { loop.daemon.connections.enter(phase, self, at: loop.daemon.time.uptime) }

    /// - Returns: `false` if the connection is being closed to make room.
    func startReading() -> Bool { loop.daemon.connections.startReading(self) }

    func stopReading() { loop.daemon.connections.stopReading(self) }

    func progress() { loop.daemon.connections.progress(self, at: loop.daemon.time.uptime) }
}
