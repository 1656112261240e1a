/// Why a server cannot start.
///
/// Has the three texts of a diagnosable error; this room stands on no other, so `LatchkeyServer` declares the conformance.
public struct HTTPServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A stable name of the kind of error: `httpAddress`, `httpListen`, `httpTLS` or `httpRunning`.
    public let code: String
    /// What happened, with what the system and libmicrohttpd said.
    public let reason: String
    /// What to do, one imperative sentence.
    public let remedy: String

    public var description: String { "\(code): \(reason) \(remedy)" }

    static func address(_ text: String) -> Self {
        Self(
            code: "httpAddress", reason: "“\(text.prefix(60))” is not an IPv4 or IPv6 address.",
            remedy: "Give an address such as 127.0.0.1 or ::1.")
    }

    static func listen(_ address: String, port: UInt16, _ details: String) -> Self {
        Self(
            code: "httpListen", reason: "No server could be started on \(address) port \(port): \(details)",
            remedy: "Choose a free port, or 0 to let the system choose one.")
    }

    static func tls(_ details: String) -> Self {
        Self(
            code: "httpTLS", reason: "The TLS certificate and key were not accepted: \(details)",
            remedy: "Give a PEM certificate and the PEM private key that belongs to it.")
    }

    static let running = Self(
        code: "httpRunning", reason: "The server is already running.", remedy: "Stop it before starting it again.")
}
