import Foundation
import Testing

/// A named pipe: whoever reads it waits until a test writes, so a child can be held without a clock.
final class Fifo: Sendable {
    let url: URL
    private let folder: ScratchFolder?

    /// - Parameter url: where to put it, in place of what is there; in a folder of its own unless given.
    init(at url: URL? = nil) throws {
        folder = try url == nil ? ScratchFolder() : nil
        self.url = try #require(url ?? folder?.url.appending(path: "fifo"))
        unlink(self.url.path)
        try #require(mkfifo(self.url.path, 0o600) == 0)
    }

    /// Waits until somebody has it open for reading, and holds the other end.
    func openForWriting() async -> Writer {
        let path = url.path
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Writer(open(path, O_WRONLY | O_CLOEXEC))) }
        }
    }

    /// The writing end, closed with the last reference.
    final class Writer: Sendable {
        private let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// Whether everybody who had it open for reading has gone.
        var hasNoReader: Bool {
            var waiting = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
            return poll(&waiting, 1, 0) == 1 && waiting[0].revents & Int16(POLLERR) != 0
        }
    }
}
