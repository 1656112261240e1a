public import Foundation

/// A body that is made while it is sent, piece by piece, such as server-sent events.
///
/// A separate task makes the pieces; it starts when the client's connection can take the first one, and is cancelled when the client
/// has gone or the server stops. While there is nothing to send, the connection occupies no thread. A body is sent once.
///
///     HTTPResponse(status: 200, headers: [.contentType: "text/event-stream"], body: .stream(HTTPBodyStream { body in
///         for await event in events { guard await body.write(event) else { return } }
///     }))
// Sound because `state` is touched under `lock` only; HTTPStreamTests covers it.
public final class HTTPBodyStream: @unchecked Sendable {
    private struct State {
        var bytes = Data()
        /// How many of the bytes are sent.
        var sent = 0
        var hasEnded = false
        var hasFailed = false
        var work: Task<Void, Never>?
        /// The connection while there is nothing to send.
        var waiting: ClientConnection?
        /// The writers that wait for room.
        var writers: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let make: @Sendable (HTTPBodyStream) async -> Void
    private let lock = NSLock()
    private var state = State()

    /// - Parameters:
    ///   - limit: how many bytes may wait for the client before the writer has to wait. Defaults to 64 KiB.
    ///   - make: writes the body. When it returns, the body ends. It is cancelled once the body is no longer sent.
    public init(limit: Int = 64 * 1_024, _ make: @escaping @Sendable (HTTPBodyStream) async -> Void) {
        self.limit = max(1, limit)
        self.make = make
    }

    /// Adds a piece, and waits until there is room for the next one.
    /// - Returns: false once the body is no longer sent.
    @discardableResult
    public func write(_ piece: Data) async -> Bool {
        let isTaken = lock.withLock {
            guard !state.hasEnded else { return false }
            state.bytes.append(piece)
            resume()
            return true
        }
        guard isTaken else { return false }
        await withCheckedContinuation { writer in
            let hasRoom = lock.withLock {
                guard !state.hasEnded, state.bytes.count - state.sent >= limit else { return true }
                state.writers.append(writer)
                return false
            }
            if hasRoom { writer.resume() }
        }
        return lock.withLock { !state.hasEnded }
    }

    /// Ends the body; written pieces are still sent. Any thread may call it, more than once.
    func end() {
        let (task, writers) = lock.withLock {
            state.hasEnded = true
            resume()
            return (state.work, takeWriters())
        }
        task?.cancel()
        for writer in writers { writer.resume() }
    }

    /// Ends the body as broken: the connection closes without the end of the body, so that no client takes the received part for the whole.
    /// Any thread may call it.
    package func fail() {
        lock.withLock { state.hasFailed = true }
        end()
    }

    /// The next output of a connection.
    enum Piece {
        case bytes(Data)
        /// Nothing yet; the connection continues when there is something.
        case later
        case end
        /// The body failed.
        case broken
    }

    /// The next piece.
    func next(most: Int, for connection: ClientConnection) -> Piece {
        let (piece, writers): (Piece, [CheckedContinuation<Void, Never>]) = lock.withLock {
            start()
            let left = state.bytes.count - state.sent
            guard left > 0 else {
                guard !state.hasEnded else { return (state.hasFailed ? .broken : .end, []) }
                state.waiting = connection
                return (.later, [])
            }
            let count = min(left, most)
            let piece = Data(state.bytes.dropFirst(state.sent).prefix(count))
            state.sent += count
            if state.sent == state.bytes.count { (state.bytes, state.sent) = (Data(), 0) }
            return (.bytes(piece), left - count < limit ? takeWriters() : [])
        }
        for writer in writers { writer.resume() }
        return piece
    }

    /// Starts the work, once. Under the lock.
    private func start() {
        guard state.work == nil, !state.hasEnded else { return }
        let make = make
        state.work = Task {
            await make(self)
            self.end()
        }
    }

    /// Makes the connection ask for bytes again. Under the lock.
    private func resume() {
        state.waiting?.goOn()
        state.waiting = nil
    }

    private func takeWriters() -> [CheckedContinuation<Void, Never>] {
        defer { state.writers = [] }
        return state.writers
    }
}

extension HTTPBodyStream: Hashable {
    public static func == (one: HTTPBodyStream, other: HTTPBodyStream) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
