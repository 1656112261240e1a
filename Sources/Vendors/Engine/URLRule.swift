import Foundation
import LatchkeyCore

/// How the URL of a request comes about: a text, and what is done to its query afterwards.
///
/// URLs are changed as text, so that what a vendor wrote stays as it wrote it.
///
/// Source: `vendors.md` §23.3.
public struct URLRule: Sendable, Hashable, Codable {
    /// Where the URL's text comes from.
    public var base: TextRule
    /// What is done to it, in this order.
    public var changes: [Change]

    /// Makes a rule.
    public init(_ base: TextRule, _ changes: [Change] = []) {
        self.base = base
        self.changes = changes
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        base = try container.decode(TextRule.self, forKey: .base)
        changes = try container.decodeIfPresent([Change].self, forKey: .changes) ?? []
    }

    /// A change to an URL.
    public enum Change: Sendable, Hashable, Codable {
        /// Removes the query.
        case stripQuery
        /// Sets a query item, in place of one of the same name if there is one; nothing happens if the rule gives nothing.
        case setQuery(name: String, value: TextRule)
        /// Adds a query item unless one of that name, in any letter case, is there.
        case addQueryIfAbsent(name: String, value: TextRule)
        /// Copies query items of the key URI, found in any letter case and written with the name given, undecoded.
        case copyKeyURIQuery(names: [String])
        /// Appends a path segment, percent-encoded, in front of the query.
        case appendPath(TextRule)
        /// Replaces scheme, host and port by those of another URL.
        case useOrigin(TextRule)
    }
}

extension URLRule {
    /// All rules in it.
    var rules: [TextRule] {
        [base]
            + changes.compactMap { change in
                switch change {
                case .setQuery(_, let rule), .addQueryIfAbsent(_, let rule), .appendPath(let rule),
                    .useOrigin(let rule):
                    rule
                case .stripQuery, .copyKeyURIQuery: nil
                }
            }
    }

    /// The URL for a request.
    func url(_ context: RuleContext, for use: String) throws(IntegrationError) -> URL {
        var text = URLText(try context.requiredText(base, for: use))
        for change in changes { text.apply(change, context) }
        guard let url = URL(string: text.description), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme), url.host?.isEmpty == false
        else {
            let shown = Redaction.standard.redacted(urlText: text.description)
            throw IntegrationError(.invalidURL, "The \(use) is no http or https URL: \(shown.prefix(200)).")
        }
        return url
    }
}

/// An URL cut into what stands before its query and its query's items.
private struct URLText: CustomStringConvertible {
    private var front: String
    private var items: [String]

    init(_ text: String) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        front = String(parts.first ?? "")
        items = parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : []
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
        case .appendPath(let rule):
            guard let segment = context.text(rule) else { return }
            front += (front.hasSuffix("/") ? "" : "/") + segment.percentEncoded
        case .useOrigin(let rule):
            if let other = context.text(rule) { front = String(Self.origin(of: other) + Self.path(of: front)) }
        }
    }

    private mutating func set(_ name: String, to encodedValue: String) {
        let item = "\(name.percentEncoded)=\(encodedValue)"
        if let index = index(of: name) { items[index] = item } else { items.append(item) }
    }

    private func index(of name: String) -> Int? {
        items.firstIndex { $0.prefix { $0 != "=" }.caseInsensitiveEquals(name) }
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
