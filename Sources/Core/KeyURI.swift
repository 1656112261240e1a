/// The URI of a content key as a playlist states it, such as `skd://host/path?query`.
///
/// The text is kept and cut as text. `URL` would lower-case hosts, decode percent escapes, read `id:iv` as a port and
/// refuse blanks; a license service compares bytes. Nothing here fails: odd text simply has fewer parts.
///
/// Source: `vendors.md` §0 and §23.1, `media.md` §8.
public struct KeyURI: Sendable, Hashable, Codable {
    /// The text as the playlist has it, without line ends behind it.
    public let raw: String

    /// - Parameter raw: the key's URI; trailing line ends are cut, anything else is kept.
    public init(_ raw: String) {
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
    // Byte for byte: `String` takes two spellings of an accent as equal, a license service does not.
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
    /// The scheme as written, without its colon: `skd`, `SKD`, `https`; nil for a relative reference.
    ///
    /// A scheme is what stands before `://`, or `skd` or `data` before a bare colon. Other text before a colon is kept as
    /// text, because `keyid:iv` is a common form.
    public var scheme: String? {
        guard let colon = raw.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = raw[..<colon]
        let isName = !name.isEmpty && name.utf8.allSatisfy(Self.isSchemeByte)
        let isOpaque = ["skd", "data"].contains(name.lowercased())
        return isName && (isOpaque || raw[colon...].hasPrefix("://")) ? String(name) : nil
    }

    /// Everything behind `skd://` or `skd:` (or another scheme); the whole text where there is no scheme.
    public var remainder: String {
        guard let scheme else { return raw }
        let rest = raw.dropFirst(scheme.count + 1)
        return String(rest.hasPrefix("//") ? rest.dropFirst(2) : rest)
    }

    /// The remainder up to the first of `/ ? #`, exactly as written: never decoded, never split at a colon.
    public var host: String {
        String(remainder.prefix { !"/?#".contains($0) })
    }

    /// The parts between slashes behind the host and before the first `?`, with empty parts left out.
    public var pathComponents: [String] {
        beforeQuery(of: remainder).dropFirst(host.count).split(separator: "/").map(String.init)
    }

    /// The remainder up to its first `?`.
    public var remainderBeforeQuery: String { String(beforeQuery(of: remainder)) }

    /// What stands behind the first `?`; nil without one.
    public var query: String? { text(after: raw.firstIndex(of: "?")) }

    /// What stands behind the last `?`; nil without one.
    public var afterLastQuestionMark: String? { text(after: raw.lastIndex(of: "?")) }

    /// The query's items in order, with duplicates; values undecoded, nil where an item has no `=`.
    public var queryItems: [QueryItem] {
        (query ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryItem(name: String(parts.first ?? ""), value: parts.count > 1 ? String(parts[1]) : nil)
        }
    }

    /// The first value of a query item, found without regard to letter case; undecoded.
    public func queryValue(_ name: String) -> String? {
        queryItems.first { $0.name.caseInsensitiveEquals(name) }?.value
    }

    /// The text with its leading scheme replaced once: `skd://a/b` becomes `https://a/b`.
    public func replacingScheme(with scheme: String) -> String { "\(scheme)://\(remainder)" }

    /// One item of a key URI's query, undecoded.
    public struct QueryItem: Sendable, Hashable {
        /// What stands before the first `=`.
        public let name: String
        /// What stands behind the first `=`; nil without one.
        public let value: String?
    }

    private func beforeQuery(of text: String) -> Substring { text.prefix { $0 != "?" } }

    private func text(after index: String.Index?) -> String? {
        index.map { String(raw[raw.index(after: $0)...]) }
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}

extension StringProtocol {
    /// Whether two texts are equal but for the case of their letters.
    package func caseInsensitiveEquals(_ other: some StringProtocol) -> Bool {
        lowercased() == other.lowercased()
    }
}
