/// A URI or a relative reference as text. Resolution follows RFC 3986 §5.2 and changes nothing unnecessarily.
///
/// `URL` is not used: it refuses or rewrites texts that servers and key systems compare byte for byte. A reference with a
/// scheme is returned unchanged, so `skd:` and `data:` are never normalized (HLS.md rule 21).
///
/// Source: RFC 3986 §3, §5.2 and §5.3 (strict), `Documentation/HLS.md` §7 rule 21 and §8.
struct URIReference {
    private(set) var scheme: Substring?
    private(set) var authority: Substring?
    private(set) var path: Substring
    private(set) var query: Substring?
    private(set) var fragment: Substring?

    init(_ text: String) {
        var rest = text[...]
        fragment = Self.cut(&rest, behind: "#")
        query = Self.cut(&rest, behind: "?")
        scheme = Self.cutScheme(&rest)
        if rest.utf8.starts(with: "//".utf8) {
            let behind = rest.utf8.dropFirst(2)
            let end = behind.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[behind.startIndex..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// The reference resolved against a base; unchanged without a base or if the reference has a scheme.
    static func resolve(_ reference: String, against base: String?) -> String {
        guard let base else { return reference }
        var target = URIReference(reference)
        guard target.scheme == nil else { return reference }
        let start = URIReference(base)
        target.scheme = start.scheme
        guard target.authority == nil else { return target.with(path: withoutDots(target.path)) }
        target.authority = start.authority
        if target.path.isEmpty {
            target.query = target.query ?? start.query
            return target.with(path: String(start.path))
        }
        let isRooted = target.path.utf8.first == UInt8(ascii: "/")
        return target.with(path: withoutDots(isRooted ? target.path : start.merged(target.path)[...]))
    }

    /// RFC 3986 §5.2.3: the reference replaces everything after the last slash.
    private func merged(_ reference: Substring) -> String {
        if authority != nil, path.isEmpty { return "/\(reference)" }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return String(reference) }
        return "\(path[...slash])\(reference)"
    }

    /// RFC 3986 §5.2.4, segment by segment.
    private static func withoutDots(_ path: Substring) -> String {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Substring($0) }
        let isRooted = parts.count > 1 && parts[0].isEmpty
        var kept: [Substring] = []
        for part in parts.dropFirst(isRooted ? 1 : 0) {
            if part == ".." { _ = kept.popLast() } else if part != "." { kept.append(part) }
        }
        if let last = parts.last, last == "." || last == ".." { kept.append("") }
        return (isRooted ? "/" : "") + kept.joined(separator: "/")
    }

    /// RFC 3986 §5.3.
    private func with(path: String) -> String {
        var text = ""
        if let scheme { text += "\(scheme):" }
        if let authority { text += "//\(authority)" }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    private static func cut(_ text: inout Substring, behind mark: Unicode.Scalar) -> Substring? {
        guard let position = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return nil }
        defer { text = text[..<position] }
        return text[text.utf8.index(after: position)...]
    }

    /// A scheme is a letter and letters, digits, `+`, `-`, `.` before the first colon.
    private static func cutScheme(_ text: inout Substring) -> Substring? {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let first = text.utf8.first else { return nil }
        let name = text[..<colon]
        let isLetter = first.isUppercase || first.isLowercase
        guard isLetter, name.utf8.allSatisfy(isSchemeByte) else { return nil }
        text = text[text.utf8.index(after: colon)...]
        return name
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isUppercase || byte.isLowercase || byte.isDigit
            || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
    }
}
