import Foundation
import LatchkeyCore
import LatchkeyTransport
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The request that follows a server's redirect.
///
/// Within an origin everything is forwarded. Another origin has to be configured or allowed, as for every request. It gets neither
/// credentials nor unknown header fields, and a request whose address or body carries a credential is refused.
struct Redirect {
    let request: URLRequest
    let dropsCredentials: Bool

    private static let harmlessHeaders: Set = [
        "accept", "accept-language", "content-type", "user-agent", "cache-control",
    ]

    /// - Parameter configured: URLs of the integration's settings.
    /// - Returns: `nil` if the reply is not a redirect.
    /// - Throws: `redirectRefused`, `hostRefused`, `insecureURL`.
    init?(
        of request: URLRequest, by reply: HTTPReply, hosts: HostPolicy, configured: [URL], issued: IssuedCredentials
    ) throws(ContentKeyError) {
        guard [301, 302, 303, 307, 308].contains(reply.status), let location = reply.header("location") else {
            return nil
        }
        guard let from = request.url, let origin = Origin(from),
            let to = URL(string: location.escapedForURL, relativeTo: from)
        else { throw Self.refused("The redirect's address is not a valid URL.") }
        let target = hosts.adapted(to.absoluteURL)
        let newOrigin = try hosts.checkScheme(target) { _ in .redirect }
        let isSafeMethod = ["GET", "HEAD"].contains(request.httpMethod ?? "GET")
        guard isSafeMethod || [307, 308].contains(reply.status) else {
            throw Self.refused(
                "The service redirects the license request with \(reply.status), which would lose the SPC.")
        }
        dropsCredentials = newOrigin != origin
        var next = request
        next.url = target
        if dropsCredentials {
            try hosts.check(target, configured: configured) { _ in .redirect }
            try Self.dropCredentials(from: &next, issued, for: newOrigin)
        }
        self.request = next
    }

    private static func dropCredentials(
        from request: inout URLRequest, _ issued: IssuedCredentials, for origin: Origin
    ) throws(ContentKeyError) {
        let forms = issued.forms
        guard !forms.areFound(in: request.httpBody) else {
            throw refused("The service redirects a request whose body carries the token to \(origin.host).")
        }
        guard !forms.areFound(in: request.url.map { Data($0.absoluteString.utf8) }) else {
            throw refused("The service redirects to an address on \(origin.host) that carries the token.")
        }
        for name in (request.allHTTPHeaderFields ?? [:]).keys where !harmlessHeaders.contains(name.lowercased()) {
            request.setValue(nil, forHTTPHeaderField: name)
        }
    }

    private static func refused(_ reason: String) -> ContentKeyError {
        ContentKeyError(
            .redirectRefused, reason, remedy: "Configure the URL that the service redirects to, if it is the vendor's.")
    }
}
