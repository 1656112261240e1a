package import Foundation

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

/// A captured request, as far as it is known.
package struct CapturedRequest: Sendable {
    /// The HTTP method, such as `POST`.
    package var method: String
    /// The URL as text; only a path if the capture lacks the host.
    package var url: String
    /// The header fields.
    package var headers: [(name: String, value: String)]
    /// The body; `nil` if there is none or the capture lacks it.
    package var body: Data?
    /// Why the body is not the one that was sent; `nil` if it is.
    package var gap: BodyGap?
    /// When it was sent; `nil` if the capture does not say.
    package var date: Date?

    /// Makes a request.
    package init(
        method: String, url: String, headers: [(name: String, value: String)] = [], body: Data? = nil,
        gap: BodyGap? = nil, date: Date? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        (self.gap, self.date) = (gap, date)
    }

    /// The request that a client would send.
    package init(_ request: URLRequest) {
        self.init(
            method: request.httpMethod ?? "GET", url: request.url?.absoluteString ?? "",
            headers: (request.allHTTPHeaderFields ?? [:]).map { ($0.key, $0.value) }, body: request.httpBody)
    }

    /// The first value of a header field. Names are compared without regard to letter case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

extension String {
    /// A host with user and port cut off, in lower case.
    var hostName: String {
        let host = split(separator: "@").last.map(String.init) ?? self
        return String(host.prefix { $0 != ":" }).lowercased()
    }

    /// Whether a host is a domain or belongs to it.
    func isHost(in domain: String) -> Bool { self == domain || hasSuffix(".\(domain)") }
}
