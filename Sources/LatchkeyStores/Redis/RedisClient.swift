import Foundation
import LatchkeyCore
import LatchkeySystem

/// A connection to Redis with its own thread, on which any number of tasks pipeline commands.
///
/// Connects when needed, and again after a failure; then checks that the server is a primary.
///
/// Source: `Documentation/Server/Stores.md`.
final class RedisClient: Sendable {
    private let inbox: RedisInbox
    private let share: OpenFileShare
    /// A connection, both ends of a bell, and the descriptors for looking for a primary.
    private static let descriptors = 4

    /// - Parameters:
    ///   - address: the address of Redis.
    ///   - limit: how long a command may take.
    ///   - timekeeper: the time for limits.
    init(_ address: RedisAddress, limit: Duration, timekeeper: any Timekeeper) throws(StoreError) {
        guard let share = OpenFileShare(Self.descriptors), let inbox = RedisInbox()
        else { throw .redis("The process has no file descriptor left.", .full) }
        (self.inbox, self.share) = (inbox, share)
        // Ends when the client is released: `deinit` closes the inbox.
        let thread = Thread {
            var driver = RedisDriver(address, inbox, limit: limit, timekeeper: timekeeper)
            driver.run()
        }
        thread.name = "redis"
        thread.start()
    }

    deinit { inbox.close() }

    /// Sends commands together.
    /// - Returns: the answers in order, including errors.
    /// - Throws: `StoreError` if there is no connection, or it breaks, or the time is over.
    func send(_ commands: [[[UInt8]]]) async throws(StoreError) -> [RESPValue] {
        let promise = Promise<[RESPValue], any Error>()
        let bytes = commands.reduce(into: []) { $0 += RedisCommand($1).bytes }
        inbox.add(RedisCall(bytes: bytes, count: commands.count, promise: promise))
        do {
            return try await withCheckedThrowingContinuation { continuation in
                promise.whenResolved { continuation.resume(with: $0) }
            }
        } catch {
            throw error as? StoreError ?? .redis("The connection to Redis broke.")
        }
    }
}

/// Commands that one task sends, and the promise of their answers.
struct RedisCall: Sendable {
    let bytes: [UInt8]
    let count: Int
    let promise: Promise<[RESPValue], any Error>
}

/// The calls that tasks leave for the thread of a connection.
final class RedisInbox: Sendable {
    private struct State {
        var calls: [RedisCall] = []
        var isClosed = false
    }

    private let state = Locked(State())
    /// The end of a pipe that is readable when calls are waiting.
    let bell: CInt
    private let ringer: CInt

    init?() {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (bell, ringer) = (ends[0], ends[1])
    }

    deinit {
        Foundation.close(bell)
        Foundation.close(ringer)
    }

    func add(_ call: RedisCall) {
        state.withLock { $0.calls.append(call) }
        ring()
    }

    package func close() {
        state.withLock { $0.isClosed = true }
        ring()
    }

    /// The waiting calls; `nil` after the end.
    func take() -> [RedisCall]? {
        var rings = [UInt8](repeating: 0, count: 1_024)
        _ = read(bell, &rings, rings.count)
        return state.withLock { state in
            defer { state.calls = [] }
            return state.isClosed && state.calls.isEmpty ? nil : state.calls
        }
    }

    // A full pipe rings already.
    private func ring() { _ = write(ringer, [1], 1) }
}
