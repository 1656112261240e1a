import LatchkeyCore

/// Names, and the namespaces of their prefixes.
///
/// Source: Namespaces in XML 1.0, third edition; Extensible Markup Language (XML) 1.0, fifth edition, §2.3.
enum XMLNames {
    /// The namespaces that are in force around the root.
    static let outermost = ["": "", "xml": "http://www.w3.org/XML/1998/namespace"]

    /// An element with its names resolved; `nil` for a prefix without a namespace and for two attributes of one name.
    static func element(
        _ written: String, _ attributes: [(name: String, value: String)], in outer: [String: String]
    ) -> XMLTree.Element? {
        guard let scope = scope(attributes, in: outer), let name = name(written, scope) else { return nil }
        var resolved: [XMLTree.Attribute] = []
        var seen: Set<XMLTree.Name> = []
        for (written, value) in attributes {
            guard let name = attributeName(written, scope) else { return nil }
            // Two prefixes of one namespace make one name.
            let prefix = name.namespace.isEmpty ? name.prefix : ""
            guard seen.insert(XMLTree.Name(prefix: prefix, local: name.local, namespace: name.namespace)).inserted
            else { return nil }
            resolved.append(XMLTree.Attribute(name: name, value: value))
        }
        return XMLTree.Element(name: name, attributes: resolved, scope: scope)
    }

    /// Whether a text is a name, with or without a prefix.
    static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, isStart(first) else { return false }
        return text.unicodeScalars.allSatisfy { isStart($0) || isInside($0) }
    }

    private static func scope(
        _ attributes: [(name: String, value: String)], in outer: [String: String]
    ) -> [String: String]? {
        var scope = outer
        for (name, value) in attributes {
            if name == "xmlns" { scope[""] = value }
            guard name.hasPrefix("xmlns:") else { continue }
            let prefix = String(name.dropFirst(6))
            guard !value.isEmpty, !["", "xmlns", "xml"].contains(prefix) else { return nil }
            scope[prefix] = value
        }
        return scope
    }

    private static func name(_ written: String, _ scope: [String: String]) -> XMLTree.Name? {
        let parts = written.unicodeScalars.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let prefix = parts.count == 2 ? parts[0] : ""
        guard 1...2 ~= parts.count, let local = parts.last, isName(local), parts.count == 1 || isName(prefix),
            let namespace = scope[prefix]
        else { return nil }
        return XMLTree.Name(prefix: prefix, local: local, namespace: namespace)
    }

    /// An attribute without a prefix is in no namespace, and so are declarations of namespaces.
    private static func attributeName(_ written: String, _ scope: [String: String]) -> XMLTree.Name? {
        guard written.utf8.contains(UInt8(ascii: ":")) else {
            return XMLTree.Name(prefix: "", local: written, namespace: "")
        }
        guard written.hasPrefix("xmlns:") else { return name(written, scope) }
        let local = String(written.dropFirst(6))
        return local.utf8.contains(UInt8(ascii: ":")) || !isName(local)
            ? nil : XMLTree.Name(prefix: "xmlns", local: local, namespace: "")
    }

    private static func isStart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ":", "_", "A"..."Z", "a"..."z", "\u{c0}"..."\u{d6}", "\u{d8}"..."\u{f6}", "\u{f8}"..."\u{2ff}",
            "\u{370}"..."\u{37d}", "\u{37f}"..."\u{1fff}", "\u{200c}"..."\u{200d}", "\u{2070}"..."\u{218f}",
            "\u{2c00}"..."\u{2fef}", "\u{3001}"..."\u{d7ff}", "\u{f900}"..."\u{fdcf}", "\u{fdf0}"..."\u{fffd}",
            "\u{10000}"..."\u{effff}":
            true
        default: false
        }
    }

    private static func isInside(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "-", ".", "0"..."9", "\u{b7}", "\u{300}"..."\u{36f}", "\u{203f}"..."\u{2040}": true
        default: false
        }
    }
}
