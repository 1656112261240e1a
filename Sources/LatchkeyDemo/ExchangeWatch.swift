import Foundation
import LatchkeyCore

/// Waits for requests to the services, by the lines of their log.
final class ExchangeWatch: Sendable {
    private struct State {
        var lines: [String] = []
        var listeners: [AsyncStream<String>.Continuation] = []
    }

    private static let patience = Duration.seconds(30)
    private let state = Locked(State())

    /// Receives a line of the log.
    func note(_ line: String) {
        let listeners = state.withLock { state in
            state.lines.append(line)
            return state.listeners
        }
        for listener in listeners { listener.yield(line) }
    }

    /// Waits until a number of lines, past ones included, contain a text.
    /// - Throws: a `Diagnosis` with `exchangeMissing` after half a minute; `CancellationError`.
    func until(_ count: Int, of text: String) async throws {
        let lines = lines()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var seen = 0
                for await line in lines where line.contains(text) {
                    seen += 1
                    if seen >= count { return }
                }
                throw CancellationError()
            }
            group.addTask {
                try await Task.sleep(for: Self.patience)
                throw Diagnosis(
                    code: "exchangeMissing",
                    reason: "The service got no request for \(text) within \(Self.patience.inSeconds) s.",
                    remedy: "Look at exchanges.log for the requests that it got.")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func lines() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        state.withLock { state in
            for line in state.lines { continuation.yield(line) }
            state.listeners.append(continuation)
        }
        return stream
    }
}
