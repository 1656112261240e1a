package import Foundation
import LatchkeyCore

/// Writes lines one after the other, without making anybody wait.
///
/// Lines wait in memory, up to a limit, and a queue of their own writes them in the order in which they came. If whoever reads them is
/// slower than that, lines are dropped and counted.
package final class LineWriter: Sendable {
    private struct State {
        var waiting: [Data] = []
        var bytes = 0
        var isWriting = false
        var dropped: UInt64 = 0
    }

    private let limit: Int
    private let write: @Sendable (Data) -> Void
    private let queue = DispatchQueue(label: "latchkey.lines")
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: how many bytes may wait. Defaults to 8 MiB.
    ///   - write: writes whole lines; called by one thread at a time, and may block it.
    package init(limit: Int = 8 << 20, write: @escaping @Sendable (Data) -> Void) {
        self.limit = limit
        self.write = write
    }

    /// Writes to a file descriptor, such as that of standard error.
    package convenience init(descriptor: Int32) {
        self.init { Self.writeAll($0, to: descriptor) }
    }

    /// How many lines were dropped.
    package var dropped: UInt64 { state.withLock { $0.dropped } }

    /// Takes a line with its end.
    package func append(_ line: Data) {
        let begins = state.withLock { state in
            guard state.bytes + line.count <= limit else {
                state.dropped += 1
                return false
            }
            state.waiting.append(line)
            state.bytes += line.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.async { self.writeWaiting() } }
    }

    /// Waits until all lines so far are written; before the process ends, for example.
    package func flush() async {
        await withCheckedContinuation { done in queue.async { done.resume() } }
    }

    private func writeWaiting() {
        while true {
            let lines = state.withLock { state in
                let lines = state.waiting
                (state.waiting, state.bytes, state.isWriting) = ([], 0, !lines.isEmpty)
                return lines
            }
            guard !lines.isEmpty else { return }
            write(lines.reduce(into: Data()) { $0.append($1) })
        }
    }

    /// Writes all bytes; what cannot be written is lost, as nobody can be told.
    private static func writeAll(_ data: Data, to descriptor: Int32) {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = Foundation.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written > 0 {
                    rest = rest.dropFirst(written)
                } else if errno == EAGAIN {
                    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = Foundation.poll(&poll, 1, 1_000)
                } else if errno != EINTR {
                    return
                }
            }
        }
    }
}
