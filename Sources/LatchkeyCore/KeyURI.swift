/// The URI of a content key as a playlist states it, such as `skd://host/path?query`.
///
/// It is stored and split as text. `URL` would lower-case hosts, decode percent escapes, parse `id:iv` as a port and refuse
/// blanks, but a license service compares bytes. Nothing here fails: odd text simply has fewer parts.
///
/// Source: `Documentation/Vendors/README.md` §0 and §23.1, `Documentation/HLS.md` §8.
public struct KeyURI: Sendable, Hashable, Codable {
    /// The text as it is in the playlist, without trailing line ends.
    public let raw: String

    /// - Parameter raw: the key's URI. Trailing line ends are removed; everything else is kept.
    public init(_ raw: String) {
        // Works on bytes where it can, because characters cost ten times as much.
        if let last = raw.utf8.last, Self.isPrintable(last) {
            self.raw = raw
            return
        }
        var text = raw[...]
        while text.last?.isNewline == true { text.removeLast() }
        self.raw = String(text)
    }

    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(raw)
    }
}

extension KeyURI {
    // Byte for byte: `String` treats two Unicode forms of an accent as equal, but a license service does not.
    public static func == (left: Self, right: Self) -> Bool { left.raw.equalsByteForByte(right.raw) }

    public func hash(into hasher: inout Hasher) {
        var text = raw
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension KeyURI: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) { self.init(value) }
    public var description: String { raw }
}

extension KeyURI {
    /// The scheme as written, without its colon: `skd`, `SKD`, `https`; `nil` for a relative reference.
    ///
    /// A scheme is the text before `://`, or `skd` or `data` before a plain colon. Other text before a colon is not a scheme,
    /// because `keyid:iv` is a common form.
    package var scheme: String? {
        guard let colon = raw.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = raw[..<colon]
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isSchemeByte) else { return nil }
        let isNamed = raw.utf8[colon...].starts(with: "://".utf8) || ["skd", "data"].contains(name.lowercased())
        return isNamed ? String(name) : nil
    }

    /// Everything after `skd://` or `skd:` (or another scheme); the whole text if there is no scheme.
    public var remainder: String {
        guard let scheme else { return raw }
        let rest = raw.utf8.dropFirst(scheme.utf8.count + 1)
        return String(Substring(rest.starts(with: "//".utf8) ? rest.dropFirst(2) : rest))
    }

    /// The remainder up to the first of `/ ? #`, exactly as written: not decoded, and not split at a colon.
    public var host: String { String(Self.host(of: remainder)) }

    /// The parts between slashes, after the host and before the first `?`, without empty parts.
    package var pathComponents: [String] {
        let remainder = remainder
        let path = beforeQuery(of: remainder).utf8.dropFirst(Self.host(of: remainder).utf8.count)
        return path.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The remainder up to its first `?`.
    package var remainderBeforeQuery: String { String(beforeQuery(of: remainder)) }

    /// The text after the first `?`, or `nil`.
    package var query: String? { text(after: raw.firstIndex(of: "?")) }

    /// The text after the last `?`, or `nil`.
    package var afterLastQuestionMark: String? { text(after: raw.lastIndex(of: "?")) }

    /// The query's items in order, with duplicates. Values are not decoded; `nil` if an item has no `=`.
    package var queryItems: [QueryItem] {
        (query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryItem(name: String(parts.first ?? ""), value: parts.count > 1 ? String(parts[1]) : nil)
        }
    }

    /// The first value of a query item, not decoded. The name matches in any letter case.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name.caseInsensitiveEquals(name) }?.value
    }

    /// The text with its scheme replaced: `skd://a/b` becomes `https://a/b`.
    package func replacingScheme(with scheme: String) -> String { "\(scheme)://\(remainder)" }

    /// One item of a key URI's query, not decoded.
    package struct QueryItem: Sendable, Hashable {
        /// The text before the first `=`.
        package let name: String
        /// The text after the first `=`, or `nil`.
        package let value: String?
    }

    private func beforeQuery(of text: String) -> Substring {
        Substring(text.utf8.prefix { $0 != UInt8(ascii: "?") })
    }

    private static func host(of remainder: String) -> Substring {
        Substring(
            remainder.utf8.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    }

    private func text(after index: String.Index?) -> String? {
        index.map { String(raw[raw.index(after: $0)...]) }
    }

    /// Whether a byte is a character of ASCII that is neither blank nor control.
    private static func isPrintable(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7f }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}

extension StringProtocol {
    /// Whether two texts are equal, ignoring letter case.
    package func caseInsensitiveEquals(_ other: some StringProtocol) -> Bool {
        lowercased() == other.lowercased()
    }
}
