package import Foundation
import LatchkeyCore

/// Writes lines one after the other, without making anybody wait.
///
/// Lines wait in memory, up to a limit, and a queue of their own writes them in the order in which they came, those of 10 ms at once: to
/// wake a thread for each, and whoever reads it, costs more than to make the line. If whoever reads them is slower than that, lines are
/// dropped and counted.
package final class LineWriter: Sendable {
    private struct State {
        var waiting = Data()
        /// Whether what waits is about to be written.
        var isDue = false
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
    /// - Returns: whether there was room; a line without is dropped.
    @discardableResult
    package func append(_ line: Data) -> Bool {
        let begins: Bool? = state.withLock { state in
            guard state.waiting.count + line.count <= limit else {
                state.dropped += 1
                return nil
            }
            state.waiting.append(line)
            defer { state.isDue = true }
            return !state.isDue
        }
        if begins == true { queue.asyncAfter(deadline: .now() + .milliseconds(10)) { self.writeWaiting() } }
        return begins != nil
    }

    /// Waits until all lines so far are written; before the process ends, for example.
    package func flush() async {
        await withCheckedContinuation { done in
            queue.async {
                self.writeWaiting()
                done.resume()
            }
        }
    }

    private func writeWaiting() {
        let lines = state.withLock { state in
            defer { (state.waiting, state.isDue) = (Data(), false) }
            return state.waiting
        }
        if !lines.isEmpty { write(lines) }
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
