package import LatchkeyCore
package import LatchkeyHTTP
import LatchkeyVendorWire

/// Which pages may read the replies of player APIs.
///
/// Put every reply through `allowing(_:for:)`, refusals too: without the fields a page sees nothing of them.
///
/// Source: WHATWG Fetch §3.2; `Documentation/LicenseServer.md` §9.5.
package struct CORSPolicy: Sendable, Hashable {
    /// The origins that are allowed.
    package enum Origins: Sendable, Hashable {
        /// Every page, without cookies or other credentials of the browser. A token in `Authorization` that the page sets is not one.
        case any
        /// Pages of these origins.
        case listed(Set<String>)
    }

    private let origins: Origins
    private let allowsCredentials: Bool
    private let allowedHeaders: String

    /// - Parameters:
    ///   - origins: the origins, such as `https://www.example.com`: scheme, host and port, in lower case, without a path.
    ///   - allowsCredentials: whether a page's request may carry the browser's credentials. Only for listed origins.
    ///   - headers: the vendor's own request fields, in addition to the fields that every API takes.
    /// - Throws: `corsPolicy` for an origin in another form, and for credentials from any origin.
    package init(
        _ origins: Origins, allowsCredentials: Bool = false, headers: [HTTPHeaderName] = []
    ) throws(Diagnosis) {
        switch origins {
        case .any: guard !allowsCredentials else { throw .credentialsFromAnywhere }
        case .listed(let origins):
            if let wrong = origins.sorted().first(where: { !Self.isOrigin($0) }) { throw .origin(wrong) }
        }
        self.origins = origins
        self.allowsCredentials = allowsCredentials
        let standard: [HTTPHeaderName] = [.authorization, .contentType, "X-Request-Id", "traceparent"]
        let more = headers.filter { !standard.contains($0) }
        allowedHeaders = (standard + more).map(\.rawValue).joined(separator: ", ")
    }

    /// The reply to an `OPTIONS` request; `nil` for every other method.
    /// - Parameter methods: those of the path.
    package func preflight(_ request: HTTPRequest, methods: [HTTPMethod]) -> HTTPResponse? {
        guard request.method == .options, !methods.isEmpty else { return nil }
        var response = allowing(HTTPResponse(status: 204), for: request)
        let list = methods.map(\.rawValue).joined(separator: ", ")
        guard response.headers["Access-Control-Allow-Origin"] != nil,
            request.headers["Access-Control-Request-Method"] != nil
        else {
            response.headers[.allow] = "\(list), OPTIONS"
            return response
        }
        response.headers["Access-Control-Allow-Methods"] = list
        response.headers["Access-Control-Allow-Headers"] = allowedHeaders
        response.headers["Access-Control-Max-Age"] = "7200"
        return response
    }

    /// A reply that the page may read, with all its header fields, if its origin is allowed.
    ///
    /// `Vary: Origin` is set even if the origin is missing or not allowed, so that no cache gives one page the reply of another.
    package func allowing(_ response: HTTPResponse, for request: HTTPRequest) -> HTTPResponse {
        var response = response
        if origins != .any { response.headers.addVary("Origin") }
        guard let origin = request.headers["Origin"], let allowed = allowed(origin) else { return response }
        let names = response.headers.fields.map(\.name).filter { !Self.readable.contains($0) }
        response.headers["Access-Control-Allow-Origin"] = allowed
        if allowsCredentials { response.headers["Access-Control-Allow-Credentials"] = "true" }
        if !names.isEmpty {
            response.headers["Access-Control-Expose-Headers"] = names.map(\.rawValue).joined(separator: ", ")
        }
        return response
    }

    /// Fields that pages may read of any reply, and fields of the connection alone.
    private static let readable: Set<HTTPHeaderName> = [.cacheControl, .contentType, .connection, "Vary"]

    private func allowed(_ origin: String) -> String? {
        switch origins {
        case .any: "*"
        case .listed(let origins): origins.contains(origin) ? origin : nil
        }
    }

    /// Whether a text is an origin as browsers write it; `null`, the origin of every sandboxed page, does not count.
    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix), text == text.lowercased() else {
            return false
        }
        let host = text.dropFirst(scheme.count)
        return !host.isEmpty
            && host.utf8.allSatisfy { 0x21...0x7e ~= $0 && !"/?#@*,\"\\".utf8.contains($0) }
    }
}

extension HTTPHeaders {
    /// Adds a name to `Vary`, unless it is there.
    fileprivate mutating func addVary(_ name: String) {
        let names = values(of: "Vary").flatMap { $0.split(separator: ",").map { $0.trimmingPrefix(" ") } }
        guard !names.contains(where: { $0 == "*" || $0.lowercased() == name.lowercased() }) else { return }
        self["Vary"] = (names.map(String.init) + [name]).joined(separator: ", ")
    }
}

/// Why a CORS policy is invalid.
extension Diagnosis {
    /// An origin in another form than browsers send it.
    package static func origin(_ text: String) -> Self {
        Self(
            code: "corsPolicy", reason: "“\(String(text.prefix(100)).onOneLine)” is not an origin.",
            remedy: "Use scheme, host and port in lower case, such as https://www.example.com.")
    }

    /// Credentials from any origin, which browsers refuse.
    package static let credentialsFromAnywhere = Diagnosis(
        code: "corsPolicy", reason: "Credentials cannot be allowed from any origin, because browsers reject that.",
        remedy: "List the origins, or do not allow credentials.")
}
