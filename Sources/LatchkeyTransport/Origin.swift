package import Foundation

/// Scheme, host and port of a URL, with the port always stated.
package struct Origin: Hashable, CustomStringConvertible {
    package let scheme: String
    package let host: String
    package let port: Int

    package init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased(), !host.isEmpty else {
            return nil
        }
        // `URL` decodes escapes in a host, but the connecting code may not: `evil.example%2F.example.com` must not pass as our host.
        guard !host.unicodeScalars.contains(where: { $0.value <= 0x20 || "%/?#@\\".unicodeScalars.contains($0) })
        else { return nil }
        self.scheme = scheme
        self.host = host.trimmingCharacters(in: ["[", "]"])
        port = url.port ?? (scheme == "http" ? 80 : 443)
    }

    package var isLoopback: Bool {
        let octets = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        let isIPv4 = octets.count == 4 && octets.allSatisfy { $0 != nil } && octets.first == 127
        return isIPv4 || host == "::1" || host == "localhost"
    }

    /// Whether this is the other origin without TLS.
    package func isPlain(_ other: Origin) -> Bool {
        scheme == "http" && other.scheme == "https" && host == other.host && port == other.port
    }

    /// The origin as a URL with an empty path.
    package var url: URL? { URL(string: "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/") }

    package var description: String { "\(scheme)://\(host):\(port)" }
}
