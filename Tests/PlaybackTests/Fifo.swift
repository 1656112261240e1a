import Foundation
import LatchkeyTesting
import Testing

/// A named pipe. Its reader waits until a test writes, which holds a child process without a clock.
final class Fifo: Sendable {
    let url: URL
    private let folder: TemporaryFolder?

    /// - Parameter url: the path of the pipe, which replaces an existing file. Defaults to a path in a temporary folder.
    init(at url: URL? = nil) throws {
        folder = try url == nil ? TemporaryFolder() : nil
        self.url = try #require(url ?? folder?.url.appending(path: "fifo"))
        unlink(self.url.path)
        try #require(mkfifo(self.url.path, 0o600) == 0)
    }

    /// Waits until a reader opens it, and opens the other end.
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

        /// Whether all readers have closed it.
        var hasNoReader: Bool {
            var waiting = [pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)]
            return poll(&waiting, 1, 0) == 1 && waiting[0].revents & Int16(POLLERR) != 0
        }
    }
}
