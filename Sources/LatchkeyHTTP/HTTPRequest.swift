public import Foundation

/// A request with its whole body.
public struct HTTPRequest: Sendable, Hashable {
    /// The method.
    public let method: HTTPMethod
    /// Path and query exactly as the client sent them, never decoded.
    public let target: String
    /// The path before the `?` with percent escapes decoded, or undecoded if the result is not UTF-8.
    public let path: String
    /// The items of the query in order, with duplicates and with percent escapes decoded. A `+` stays a `+`.
    public let queryItems: [QueryItem]
    /// The header fields.
    public let headers: HTTPHeaders
    /// The body; empty if the request has none.
    public let body: Data
    /// The client's address without its port, such as `127.0.0.1`; empty if it is unknown.
    public let remoteAddress: String

    /// One item of a query.
    public struct QueryItem: Sendable, Hashable {
        /// The text before the first `=`, decoded.
        public let name: String
        /// The text after the first `=`, decoded; `nil` without a `=`.
        public let value: String?

        /// - Parameters:
        ///   - name: the decoded name.
        ///   - value: the decoded value.
        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// - Parameters:
    ///   - method: the method.
    ///   - target: path and query as sent; the absolute form `http://host/path` is accepted, too.
    ///   - headers: the header fields.
    ///   - body: the body.
    ///   - remoteAddress: the client's address.
    public init(
        method: HTTPMethod, target: String, headers: HTTPHeaders = [:], body: Data = Data(), remoteAddress: String = ""
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.remoteAddress = remoteAddress
        let (path, query) = Self.cut(Self.originForm(target), at: "?")
        self.path = Self.decoded(path)
        queryItems = query.map(Self.items) ?? []
    }
}

extension HTTPRequest {
    /// The value of the first query item of a name, regardless of letter case; `nil` if there is none or it has no `=`.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// The same request with a prefix of its path removed: `/vudrm/license/1` below `/vudrm` is `/license/1`.
    ///
    /// - Returns: `nil` unless the path is the prefix or continues with a slash.
    public func below(_ prefix: String) -> HTTPRequest? {
        let origin = Self.originForm(target)
        guard origin.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = Substring(origin.utf8.dropFirst(prefix.utf8.count))
        guard rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") else { return nil }
        let target = rest.hasPrefix("/") ? String(rest) : "/\(rest)"
        return HTTPRequest(
            method: method, target: target, headers: headers, body: body, remoteAddress: remoteAddress)
    }

    /// Whether the path has an empty segment before its end, or an encoded slash.
    var hasDoubtfulPath: Bool {
        let path = Self.cut(Self.originForm(target), at: "?").0
        // By bytes: Foundation would make an object of each text.
        return zip(path.utf8, path.utf8.dropFirst()).contains { $0 == UInt8(ascii: "/") && $1 == $0 }
            || path.utf8.contains(UInt8(ascii: "%")) && path.lowercased().contains("%2f")
    }

    /// The target without the scheme and authority of the absolute form.
    private static func originForm(_ target: String) -> Substring {
        guard !target.hasPrefix("/"), let scheme = target.range(of: "://") else { return target[...] }
        return target[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
    }

    private static func items(of query: Substring) -> [QueryItem] {
        query.utf8.split(separator: UInt8(ascii: "&")).map { item in
            let (name, value) = cut(Substring(item), at: "=")
            return QueryItem(name: decoded(name), value: value.map(decoded))
        }
    }

    /// The parts before and after the first separator. Works on bytes, because characters cost ten times as much.
    private static func cut(_ text: Substring, at separator: Unicode.Scalar) -> (Substring, Substring?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: separator)) else { return (text, nil) }
        return (text[..<index], text[text.utf8.index(after: index)...])
    }

    private static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        return text.removingPercentEncoding ?? String(text)
    }
}
