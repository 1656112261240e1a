import CMicroHTTPD
public import Foundation

/// A body that is made while it is sent, piece by piece, such as server-sent events.
///
/// A task of its own makes the pieces; it starts when the client's connection can take the first one, and is cancelled when the client
/// has gone or the server stops. While there is nothing to send, the connection is suspended and occupies no thread. A body is sent once.
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
        var work: Task<Void, Never>?
        var watch: Task<Void, Never>?
        /// The connection while there is nothing to send.
        var suspended: OpaquePointer?
        /// Who waits for room.
        var writers: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let make: @Sendable (HTTPBodyStream) async -> Void
    private let lock = NSLock()
    private var state = State()

    /// - Parameters:
    ///   - limit: how many bytes may wait for the client before whoever writes has to wait. Defaults to 64 KiB.
    ///   - make: writes the body. When it returns, the body ends. It is cancelled when nobody takes the body any more.
    public init(limit: Int = 64 * 1_024, _ make: @escaping @Sendable (HTTPBodyStream) async -> Void) {
        self.limit = max(1, limit)
        self.make = make
    }

    /// Adds a piece, and waits until there is room for the next one.
    /// - Returns: false once nobody takes the body any more.
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

    /// Ends the body; what is written is still sent. Any thread may call it, more than once.
    func end() {
        let (tasks, writers) = lock.withLock {
            state.hasEnded = true
            resume()
            return ([state.work, state.watch], takeWriters())
        }
        for task in tasks { task?.cancel() }
        for writer in writers { writer.resume() }
    }

    /// Runs a task until the body ends.
    func whileSent(_ watch: @escaping @Sendable () async -> Void) {
        lock.withLock { if !state.hasEnded, state.watch == nil { state.watch = Task { await watch() } } }
    }

    /// Ends the body if the client has gone, which libmicrohttpd does not see while the connection is suspended.
    /// - Parameter socket: the client's, which is open as long as the connection is suspended.
    func endIfClientHasGone(_ socket: Int32) {
        let hasGone = lock.withLock { state.suspended != nil && latchkey_is_hung_up(socket) }
        if hasGone { end() }
    }

    /// Copies the next bytes for libmicrohttpd, on a thread of its own. Suspends the connection if there are none.
    /// - Returns: how many; `nil` at the end.
    func read(into target: UnsafeMutableRawBufferPointer, on connection: OpaquePointer) -> Int? {
        let (count, writers): (Int?, [CheckedContinuation<Void, Never>]) = lock.withLock {
            start()
            let left = state.bytes.count - state.sent
            guard left > 0 else {
                guard !state.hasEnded else { return (nil, []) }
                // Under the lock, so that whoever resumes it does so afterwards.
                MHD_suspend_connection(connection)
                state.suspended = connection
                return (0, [])
            }
            let count = min(left, target.count)
            state.bytes.dropFirst(state.sent).prefix(count).copyBytes(to: target)
            state.sent += count
            if state.sent == state.bytes.count { (state.bytes, state.sent) = (Data(), 0) }
            return (count, left - count < limit ? takeWriters() : [])
        }
        for writer in writers { writer.resume() }
        return count
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

    /// Has libmicrohttpd ask for bytes again. Under the lock, because a connection that has ended may not be resumed.
    private func resume() {
        if let suspended = state.suspended { resumeConnection(suspended) }
        state.suspended = nil
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

/// What libmicrohttpd holds of a body while it sends it.
final class BodyReader: Sendable {
    let stream: HTTPBodyStream
    // Sound because it is only handed back to libmicrohttpd, in a callback of the same connection.
    nonisolated(unsafe) let connection: OpaquePointer

    init(_ stream: HTTPBodyStream, on connection: OpaquePointer) {
        self.stream = stream
        self.connection = connection
    }
}

/// libmicrohttpd asks for the next bytes of a body.
func takeBodyBytes(
    context: UnsafeMutableRawPointer?, position: UInt64, target: UnsafeMutablePointer<CChar>?, most: Int
) -> Int {
    guard let context, let target else { return latchkey_mhd_body_error() }
    let reader = Unmanaged<BodyReader>.fromOpaque(context).takeUnretainedValue()
    let buffer = UnsafeMutableRawBufferPointer(start: target, count: most)
    return reader.stream.read(into: buffer, on: reader.connection) ?? latchkey_mhd_body_end()
}

/// libmicrohttpd needs a body no more.
func dropBody(context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    let reader = Unmanaged<BodyReader>.fromOpaque(context).takeRetainedValue()
    reader.stream.end()
}
