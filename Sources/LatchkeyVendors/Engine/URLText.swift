import Foundation
import LatchkeyCore

/// A URL split into the text before its query and the query's items. The fragment is dropped, because it is never sent.
struct URLText: CustomStringConvertible {
    private var front: String
    private var items: [String]

    init(_ text: String) {
        let sent = text.prefix { $0 != "#" }
        let parts = sent.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        front = String(parts.first ?? "")
        items = parts.count > 1 ? parts[1].split(separator: "&", omittingEmptySubsequences: false).map(String.init) : []
    }

    var description: String { items.isEmpty ? front : "\(front)?\(items.joined(separator: "&"))" }

    mutating func apply(_ change: URLRule.Change, _ context: RuleContext) {
        switch change {
        case .stripQuery: items = []
        case .setQuery(let name, let rule):
            if let value = context.text(rule) { set(name, to: value.percentEncoded) }
        case .addQueryIfAbsent(let name, let rule):
            if index(of: name) == nil, let value = context.text(rule) { set(name, to: value.percentEncoded) }
        case .copyKeyURIQuery(let names):
            for name in names {
                if let value = context.keyURI?.queryValue(name) { set(name, to: value) }
            }
        case .copyKeyURIQueryIfAbsent(let names):
            for name in names where index(of: name) == nil {
                if let value = context.keyURI?.queryValue(name) { set(name, to: value) }
            }
        case .appendPath(let rule):
            if let segment = context.text(rule) { append(segment.percentEncoded) }
        case .appendPathIfAbsent(let rule):
            guard let segment = context.text(rule)?.percentEncoded else { return }
            let last = front.split(separator: "/").last ?? ""
            if !last.caseInsensitiveEquals(segment) { append(segment) }
        case .useOrigin(let rule):
            if let other = context.text(rule) { front = String(Self.origin(of: other) + Self.path(of: front)) }
        }
    }

    private mutating func append(_ segment: String) { front += (front.hasSuffix("/") ? "" : "/") + segment }

    /// Replaces the first item of the name and removes the others, so that no service reads another value.
    private mutating func set(_ name: String, to encodedValue: String) {
        let index = index(of: name)
        items = items.enumerated().filter { $0.offset == index || !Self.isItem($0.element, name) }.map(\.element)
        let item = "\(name.percentEncoded)=\(encodedValue)"
        if let index { items[index] = item } else { items = items.filter { !$0.isEmpty } + [item] }
    }

    private func index(of name: String) -> Int? { items.firstIndex { Self.isItem($0, name) } }

    private static func isItem(_ item: String, _ name: String) -> Bool {
        item.prefix { $0 != "=" }.caseInsensitiveEquals(name)
    }

    private static func path(of front: String) -> Substring {
        let start = front.range(of: "://")?.upperBound ?? front.startIndex
        return front[start...].drop { $0 != "/" }
    }

    private static func origin(of text: String) -> Substring {
        let start = text.range(of: "://")?.upperBound ?? text.startIndex
        return text[..<(text[start...].firstIndex { "/?#".contains($0) } ?? text.endIndex)]
    }
}

extension String {
    /// The text of a URL with invalid characters after the authority percent-encoded, and nothing else changed.
    ///
    /// `URL(string:)` does that too, but then encodes each `%` of the text a second time.
    package var escapedForURL: String {
        let start = range(of: "://")?.upperBound ?? startIndex
        let path = self[start...].firstIndex { "/?#".contains($0) } ?? endIndex
        let bytes = Array(self[path...].utf8)
        var escaped: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isEscape = byte == UInt8(ascii: "%") && bytes[(index + 1)...].prefix(2).filter(\.isHexDigit).count == 2
            if isEscape || byte.isAllowedInURL { escaped.append(byte) } else { escaped += byte.percentEscape }
        }
        return self[..<path] + String(decoding: escaped, as: UTF8.self)
    }

    /// The text with everything outside `A–Z a–z 0–9 - _ . ~` percent-encoded, byte by byte.
    ///
    /// Source: `Documentation/Vendors/README.md` §0, form encoding.
    package var percentEncoded: String {
        String(decoding: utf8.flatMap { $0.isUnreserved ? [$0] : $0.percentEscape }, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool { Character(UnicodeScalar(self)).isHexDigit }

    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-_.~".utf8.contains(self)
        }
    }

    fileprivate var isAllowedInURL: Bool { isUnreserved || ":/?#@!$&'()*+,;=".utf8.contains(self) }

    fileprivate var percentEscape: [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(self >> 4)], digits[Int(self & 15)]]
    }
}
