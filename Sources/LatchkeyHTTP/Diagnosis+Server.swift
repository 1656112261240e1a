import LatchkeyCore

/// Why a server cannot start, or cannot take another certificate: `httpAddress`, `httpListen`, `httpOpenFiles`, `httpTLS`, `httpRunning`.
extension Diagnosis {
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

    static func openFiles(_ limit: Int, least: Int) -> Self {
        Self(
            code: "httpOpenFiles",
            reason:
                "This process may open only \(limit) files; a server needs at least \(least).",
            remedy: "Raise the limit (ulimit -n, LimitNOFILE) to at least 1,024, or 65,536 for many clients.")
    }

    static func tls(_ details: String) -> Self {
        Self(
            code: "httpTLS", reason: "The TLS certificate and key were not accepted: \(details)",
            remedy: "Give a PEM certificate and the PEM private key that belongs to it.")
    }

    static let plain = Self(
        code: "httpTLS", reason: "The server was created without TLS and cannot use a certificate.",
        remedy: "Create a server whose configuration has a certificate and a key.")

    static let running = Self(
        code: "httpRunning", reason: "The server is already running.", remedy: "Stop it before starting it again.")
}
