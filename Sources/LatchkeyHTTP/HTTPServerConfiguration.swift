import Foundation
import LatchkeyCore
package import LatchkeySystem

/// Where a server listens, and its limits.
public struct HTTPServerConfiguration: Sendable {
    /// A certificate chain and its private key, both as PEM text.
    public struct TLS: Sendable {
        /// The server's certificate and the intermediate certificates up to its root.
        public var certificate: String
        /// The private key of the first certificate. Never printed.
        public var privateKey: String

        /// - Parameters:
        ///   - certificate: PEM text.
        ///   - privateKey: PEM text.
        public init(certificate: String, privateKey: String) {
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    /// The IPv4 or IPv6 address to listen on, as text. Defaults to `127.0.0.1`, which only this machine reaches.
    public var address = "127.0.0.1"
    /// The TCP port. Defaults to 0: the system chooses a free one.
    public var port: UInt16 = 0
    /// The TLS certificate and key, which `HTTPServer.replaceTLS(_:)` can replace. Defaults to `nil`: plain HTTP.
    public var tls: TLS?
    /// The number of threads that read and write, and do the host's immediate work. They never wait for a handler.
    /// Defaults to one per processor, and 2 at least.
    public var threads = max(2, ProcessInfo.processInfo.activeProcessorCount)
    /// The number of concurrent connections, over all threads; fewer if the process may have fewer open files. Defaults to 1,024.
    ///
    /// All servers of a process share its open files. At the limit, the address with most connections loses the connection that has waited
    /// longest for its client. A connection whose answer is being made is never closed.
    public var connections = 1_024
    /// The number of concurrent connections from one address (for IPv6, from one network of 64 bits). Beyond it, the connection that has
    /// waited longest for its client is closed. Defaults to 256. Behind a proxy, where all come from one address, set it as high as
    /// `connections`.
    public var connectionsPerAddress = 256
    /// The limit of request line and header fields in bytes; larger ones are refused with 431. Defaults to 16 KiB.
    public var headerBytes = 16 * 1_024
    /// The limit of a request's body in bytes; a larger one is refused with 413. Defaults to 1 MiB.
    ///
    /// Up to 64 times as many are read and discarded, so that the client sees the refusal and not a broken connection.
    public var bodyBytes = 1_024 * 1_024
    /// How long a client may let the server wait for the next bytes of a body, or take none of a reply. Defaults to 30 s.
    public var idleTimeout: Duration = .seconds(30)
    /// How long a client may take from connecting, or from the first byte of a further request, until the request's head is complete. Then
    /// the connection is closed. Defaults to 15 s.
    public var headDeadline: Duration = .seconds(15)
    /// How long a connection may wait for its next request. Defaults to 15 s. Behind a proxy that keeps connections, set it longer than the
    /// proxy does, because a request that meets the end of its connection is lost.
    public var keepAlive: Duration = .seconds(15)
    /// How long a handler may take before the client gets a 503 and the handler's task is cancelled. Defaults to 30 s.
    public var exchangeDeadline: Duration = .seconds(30)

    /// How long a stop waits for the request of a client that has just connected and, after a drain, for one over a kept connection.
    /// Defaults to 1 s.
    package var lastRequestDeadline: Duration = .seconds(1)
    /// Whether a path may have empty segments and encoded slashes, which a proxy's rules by path may read differently. Defaults to `true`.
    package var takesDoubtfulPaths = true
    /// Where sockets are counted. Defaults to the process's.
    package var openFiles = OpenFileBudget.process

    /// The defaults.
    public init() {}
}

extension HTTPServerConfiguration.TLS: CustomStringConvertible, CustomReflectable {
    public var description: String { "TLS" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
