public import Foundation

/// A request as it came over the wire, complete with its body.
public struct HTTPRequest: Sendable, Hashable {
    /// The method as sent, such as `POST`. Methods are case-sensitive.
    public let method: String
    /// Path and query exactly as the client wrote them, never decoded.
    public let target: String
    /// The path before the `?`, with percent escapes decoded; left undecoded where the result is not UTF-8.
    public let path: String
    /// The query's items in order, with duplicates, percent escapes decoded. A `+` stays a `+`.
    public let queryItems: [QueryItem]
    /// The header fields.
    public let headers: HTTPHeaders
    /// The body; empty where the request has none.
    public let body: Data
    /// The client's address without its port, such as `127.0.0.1`; empty when it is unknown.
    public let remoteAddress: String

    /// One item of a query.
    public struct QueryItem: Sendable, Hashable {
        /// What stands before the first `=`, decoded.
        public let name: String
        /// What stands behind the first `=`, decoded; nil without a `=`.
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
    ///   - method: the method, such as `GET`.
    ///   - target: path and query as written on the wire; the absolute form `http://host/path` is taken too.
    ///   - headers: the header fields.
    ///   - body: the body.
    ///   - remoteAddress: the client's address.
    public init(
        method: String, target: String, headers: HTTPHeaders = [:], body: Data = Data(), remoteAddress: String = ""
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
    /// The first value of a query item, found without regard to letter case; nil where it is absent or has no `=`.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { HTTPHeaders.equal($0.name, name) }?.value
    }

    /// The request as it looks from below a prefix of its path: `/vudrm/license/1` below `/vudrm` is `/license/1`.
    ///
    /// - Returns: nil unless the path is the prefix or goes on behind it with a slash.
    public func below(_ prefix: String) -> HTTPRequest? {
        let origin = Self.originForm(target)
        guard origin.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = Substring(origin.utf8.dropFirst(prefix.utf8.count))
        guard rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") else { return nil }
        let target = rest.hasPrefix("/") ? String(rest) : "/\(rest)"
        return HTTPRequest(
            method: method, target: target, headers: headers, body: body, remoteAddress: remoteAddress)
    }

    /// The target without scheme and authority, which the absolute form has.
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

    /// The parts before and behind the first separator. Cut by bytes, because characters cost ten times as much.
    private static func cut(_ text: Substring, at separator: Unicode.Scalar) -> (Substring, Substring?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: separator)) else { return (text, nil) }
        return (text[..<index], text[text.utf8.index(after: index)...])
    }

    private static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        return text.removingPercentEncoding ?? String(text)
    }
}
