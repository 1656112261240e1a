import Foundation
import LatchkeyCore
import LatchkeyTransport
@_spi(Integrations) import LatchkeyVendors

/// The hosts that license and certificate requests may go to.
///
/// Allowed are the integration's configured origins and the hosts named here. A host that only a playlist names is refused, because a
/// playlist comes from a CDN and the token must not go there; so is a host that only a redirect names. Always HTTPS, except on loopback.
public struct HostPolicy: Sendable, Hashable {
    /// Hosts in addition to the configured ones.
    public var allowed: Set<Host>
    /// How an https URL on a loopback host is treated.
    public var loopback: LoopbackScheme

    /// Makes a policy; without arguments only configured origins are allowed.
    public init(allowed: Set<Host> = [], loopback: LoopbackScheme = .asGiven) {
        self.allowed = allowed
        self.loopback = loopback
    }

    /// The treatment of an https URL on a loopback host.
    public enum LoopbackScheme: Sendable, Hashable {
        /// It stays unchanged.
        case asGiven
        /// It becomes an http URL, for a test server without TLS behind `skd://127.0.0.1`.
        case http
    }

    /// A host, `cdn.example.com`; with a port, `127.0.0.1:8080`; or all hosts below a domain, `*.example.com`, which does not include
    /// `example.com` itself.
    public struct Host: Sendable, Hashable, ExpressibleByStringLiteral {
        package let name: String
        package let port: Int?

        /// - Parameter text: host or host and port; an IPv6 address is in brackets.
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

    /// Refuses a URL that the policy does not allow.
    /// - Parameters:
    ///   - configured: URLs of the integration's settings.
    ///   - source: the source of a host, for the error; `nil` if unknown.
    func check(
        _ url: URL, configured: [URL], namedBy source: (Origin) -> ValueOrigin? = { _ in nil }
    ) throws(ContentKeyError) {
        let origin = try checkScheme(url, namedBy: source)
        guard !configured.contains(where: { Origin(adapted($0)) == origin }),
            !allowed.contains(where: { $0.matches(origin) })
        else { return }
        guard !configured.contains(where: { Origin(adapted($0))?.isPlain(origin) == true }) else {
            throw ContentKeyError(
                .hostRefused, "\(origin) is not the configured origin, which is http on the same host.",
                remedy: "Set the HostPolicy's loopback scheme to http.")
        }
        let host = "host \(origin.host):\(origin.port)"
        guard let named = source(origin) else {
            throw ContentKeyError(.hostRefused, "The \(host) was neither configured nor allowed.")
        }
        guard named == .playlist else {
            throw ContentKeyError(
                .hostRefused, "\(named.gave("the \(host)")), neither configured as an address nor allowed.")
        }
        let mistake =
            origin.host.isIdentifier
            ? " It looks like an identifier, and was taken for a host, because no address is configured." : ""
        throw ContentKeyError(
            .hostRefused, "\(named.gave("the \(host)")), which was not configured.\(mistake)",
            remedy: "Configure the license service's address from its vendor, not from a playlist.")
    }

    /// Refuses everything but https, and http on a loopback host.
    @discardableResult
    func checkScheme(
        _ url: URL, namedBy source: (Origin) -> ValueOrigin? = { _ in nil }
    ) throws(ContentKeyError) -> Origin {
        guard let origin = Origin(url), origin.scheme == "https" || (origin.scheme == "http" && origin.isLoopback)
        else {
            let text = "URL on \(url.host?.prefix(100) ?? "no host")"
            let named = Origin(url).flatMap(source).map { "\($0.gave("a \(text)")), which is not https." }
            throw ContentKeyError(
                .insecureURL, named ?? "The \(text) is not https.", remedy: "Use an https URL.")
        }
        return origin
    }
}

extension KeyURI {
    /// Whether a URL has the host that players read from this URI.
    func names(_ origin: Origin) -> Bool {
        let (text, host) = (raw.lowercased().filter { !"[]".contains($0) }, origin.host)
        return text.contains("//\(host)") || text.contains("@\(host)") || text.hasPrefix("skd:\(host)") || text == host
    }
}

extension String {
    /// Whether no host has this name in public: it has no dot, and is not an IPv6 address.
    fileprivate var isIdentifier: Bool { !contains(".") && !contains(":") }
}
