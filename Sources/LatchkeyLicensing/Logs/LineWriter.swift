package import Foundation
import LatchkeyCore

/// Writes lines one after the other, without blocking the caller.
///
/// Lines wait in memory, up to a limit, and the writer's own queue writes them in order, 10 ms of lines together: waking a thread and a
/// reader for each line costs more than making it. If the reader is slower than that, lines are dropped and counted; so are lines that the
/// output refuses, because of a full disk for example.
package final class LineWriter: Sendable {
    private struct State {
        var waiting = Data()
        /// Whether the waiting lines are about to be written.
        var isDue = false
        var dropped: UInt64 = 0
        var whenRefused: @Sendable (Int) -> Void = { _ in }
    }

    private let limit: Int
    /// Returns how many lines were not written.
    private let write: @Sendable (Data) -> Int
    private let queue = DispatchQueue(label: "latchkey.lines")
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: how many bytes may wait. Defaults to 8 MiB.
    ///   - write: writes whole lines; called by one thread at a time, and may block it.
    package convenience init(limit: Int = 8 << 20, write: @escaping @Sendable (Data) -> Void) {
        self.init(
            limit: limit,
            refusing: { data in
                write(data)
                return 0
            })
    }

    private init(limit: Int, refusing write: @escaping @Sendable (Data) -> Int) {
        self.limit = limit
        self.write = write
    }

    /// Writes to a file descriptor, such as that of standard error.
    package convenience init(descriptor: Int32) {
        let hasHalfLine = Locked(false)
        self.init(
            limit: 8 << 20,
            refusing: { data in
                // A line after half a line begins a new one.
                let lines = hasHalfLine.withLock { $0 } ? Data([Self.newline]) + data : data
                let rest = Self.writeAll(lines, to: descriptor)
                if let last = lines.dropLast(rest.count).last { hasHalfLine.withLock { $0 = last != Self.newline } }
                return rest.suffix(data.count).count { $0 == Self.newline }
            })
    }

    private static let newline = UInt8(ascii: "\n")

    /// The number of lines dropped for lack of room.
    package var dropped: UInt64 { state.withLock { $0.dropped } }

    /// Registers a handler for lines that the output did not take.
    /// - Parameter heard: gets their number; called on the writer's queue.
    package func whenRefused(_ heard: @escaping @Sendable (Int) -> Void) { state.withLock { $0.whenRefused = heard } }

    /// Takes a line with its end.
    /// - Returns: whether there was room; otherwise the line is dropped.
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
        guard !lines.isEmpty else { return }
        let refused = write(lines)
        if refused > 0 { state.withLock { $0.whenRefused }(refused) }
    }

    /// Writes bytes.
    /// - Returns: the bytes that the descriptor does not take, for example because of a full disk.
    private static func writeAll(_ data: Data, to descriptor: Int32) -> Data {
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
                    return Data(rest)
                }
            }
            return Data()
        }
    }
}
