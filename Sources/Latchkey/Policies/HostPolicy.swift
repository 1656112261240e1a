import Foundation
import LatchkeyCore
import LatchkeyTransport

/// Where license and certificate requests may go.
///
/// Allowed are the origins that the integration was configured with and the hosts named here. A host that only a playlist names
/// is refused, because a playlist comes from a CDN and the token must not; so is one that only a redirect names. Always HTTPS, except
/// on loopback.
public struct HostPolicy: Sendable, Hashable {
    /// Hosts beside the configured ones.
    public var allowed: Set<Host>
    /// What becomes of an https URL on a loopback host.
    public var loopback: LoopbackScheme

    /// Makes a policy; without arguments only configured origins are allowed.
    public init(allowed: Set<Host> = [], loopback: LoopbackScheme = .asGiven) {
        self.allowed = allowed
        self.loopback = loopback
    }

    /// What becomes of an https URL on a loopback host.
    public enum LoopbackScheme: Sendable, Hashable {
        /// It stays as it is.
        case asGiven
        /// It becomes an http URL, for a test server without TLS behind `skd://127.0.0.1`.
        case http
    }

    /// A host, `cdn.example.com`; with a port, `127.0.0.1:8080`; or all hosts below a domain, `*.example.com`,
    /// which `example.com` itself is not.
    public struct Host: Sendable, Hashable, ExpressibleByStringLiteral {
        package let name: String
        package let port: Int?

        /// - Parameter text: host or host and port; an IPv6 address stands in brackets.
        public init(_ text: String) {
            let parts = text.lowercased().split(separator: ":", omittingEmptySubsequences: false)
            let isBareIPv6 = parts.count > 2 && !text.contains("]")
            if !isBareIPv6, parts.count > 1, let last = parts.last, let port = Int(last) {
                name = Self.withoutBrackets(parts.dropLast().joined(separator: ":"))
                self.port = port
            } else {
                name = Self.withoutBrackets(text.lowercased())
                port = nil
            }
        }

        public init(stringLiteral value: String) { self.init(value) }

        func matches(_ origin: Origin) -> Bool {
            guard port == nil || port == origin.port else { return false }
            return name.hasPrefix("*.") ? origin.host.hasSuffix(name.dropFirst()) : origin.host == name
        }

        private static func withoutBrackets(_ text: String) -> String {
            text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        }
    }
}

extension HostPolicy {
    /// The URL to use: https becomes http on a loopback host if the policy says so.
    func adapted(_ url: URL) -> URL {
        guard loopback == .http, let origin = Origin(url), origin.isLoopback, origin.scheme == "https",
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url }
        parts.scheme = "http"
        return parts.url ?? url
    }

    /// Refuses an URL that the policy does not allow.
    /// - Parameters:
    ///   - configured: URLs of the integration's settings.
    ///   - key: the URI of the key that is asked for, from which the URL may have its host.
    func check(_ url: URL, configured: [URL], for key: KeyURI? = nil) throws(ContentKeyError) {
        let origin = try checkScheme(url)
        guard !configured.contains(where: { Origin(adapted($0)) == origin }),
            !allowed.contains(where: { $0.matches(origin) })
        else { return }
        guard !configured.contains(where: { Origin(adapted($0))?.isPlain(origin) == true }) else {
            throw ContentKeyError(
                .hostRefused, "\(origin) is not what was configured, which is http on the same host.",
                remedy: "Set the HostPolicy's loopback scheme to http.")
        }
        guard key?.names(origin) != true else {
            let mistake =
                origin.host.isIdentifier
                ? " It looks like an identifier, and was taken for a host, because no address is configured." : ""
            throw ContentKeyError(
                .hostRefused,
                "The playlist's key URI named the host \(origin.host):\(origin.port), which was not configured.\(mistake)",
                remedy: "Configure the license service's address as its vendor gives it, and not as a playlist does.")
        }
        throw ContentKeyError(
            .hostRefused, "The host \(origin.host):\(origin.port) was neither configured nor allowed.")
    }

    /// Refuses everything but https, and http on a loopback host.
    @discardableResult
    func checkScheme(_ url: URL) throws(ContentKeyError) -> Origin {
        guard let origin = Origin(url), origin.scheme == "https" || (origin.scheme == "http" && origin.isLoopback)
        else {
            throw ContentKeyError(
                .insecureURL, "The URL on \(url.host?.prefix(100) ?? "no host") is not https.",
                remedy: "Use an https URL.")
        }
        return origin
    }
}

extension KeyURI {
    /// Whether a URL's host is the one that players read from this URI.
    fileprivate func names(_ origin: Origin) -> Bool {
        let (text, host) = (raw.lowercased().filter { !"[]".contains($0) }, origin.host)
        return text.contains("//\(host)") || text.contains("@\(host)") || text.hasPrefix("skd:\(host)") || text == host
    }
}

extension String {
    /// Whether no host has this name in public: it has no dot, and is no IPv6 address.
    fileprivate var isIdentifier: Bool { !contains(".") && !contains(":") }
}
