/// Where a server listens and how much it takes on. Every limit has a name, a unit and a default.
public struct HTTPServerConfiguration: Sendable {
    /// A certificate chain and its private key, both as PEM text.
    public struct TLS: Sendable {
        /// The server's certificate and those that lead to its root.
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

    /// The IPv4 or IPv6 address to listen on, as text. Default `127.0.0.1`: nobody but this machine.
    public var address = "127.0.0.1"
    /// The TCP port; 0, the default, lets the system choose a free one.
    public var port: UInt16 = 0
    /// TLS, or plain HTTP, the default.
    public var tls: TLS?
    /// Threads that read and write. They never wait for a handler. Default 2.
    public var threads = 2
    /// Connections open at once, over all threads; more wait in the system's queue. Default 1,024.
    public var connections = 1_024
    /// Bytes of request line and header fields, beyond which a request is refused with 431. Default 16 KiB.
    public var headerBytes = 16 * 1_024
    /// Bytes of a request's body, beyond which it is refused with 413. Default 1 MiB.
    ///
    /// Up to four times as many are read and thrown away, so that the client sees the refusal and not a broken connection.
    public var bodyBytes = 1_024 * 1_024
    /// How long a connection may be silent while nothing is being answered; whole seconds. Default 30 s.
    public var idleTimeout: Duration = .seconds(30)
    /// How long a handler may take before the client gets a 503 and the handler's task is cancelled. Default 30 s.
    public var exchangeDeadline: Duration = .seconds(30)

    /// The defaults.
    public init() {}
}

extension HTTPServerConfiguration.TLS: CustomStringConvertible, CustomReflectable {
    public var description: String { "TLS" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
