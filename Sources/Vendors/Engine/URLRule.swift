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
    public enum Change: Sendable, Hashable {
        /// Removes the query.
        case stripQuery
        /// Sets a query item, in place of one of the same name if there is one; nothing happens if the rule gives nothing.
        case setQuery(name: String, value: TextRule)
        /// Adds a query item unless one of that name, in any letter case, is there.
        case addQueryIfAbsent(name: String, value: TextRule)
        /// Copies query items of the key URI, found in any letter case and written with the name given, undecoded.
        case copyKeyURIQuery(names: [String])
        /// Copies query items of the key URI in the same way, but only those that are not there yet, in any letter case.
        case copyKeyURIQueryIfAbsent(names: [String])
        /// Appends a path segment, percent-encoded, in front of the query.
        case appendPath(TextRule)
        /// Appends a path segment unless the path ends in it, in any letter case.
        case appendPathIfAbsent(TextRule)
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
                    .appendPathIfAbsent(let rule), .useOrigin(let rule):
                    rule
                case .stripQuery, .copyKeyURIQuery, .copyKeyURIQueryIfAbsent: nil
                }
            }
    }

    /// The URL for a request.
    func url(_ context: RuleContext, for use: String) throws(IntegrationError) -> URL {
        let given = try context.requiredText(base, for: use)
        var text = URLText(given)
        for change in changes { text.apply(change, context) }
        guard let url = URL(string: text.description.escapedForURL), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme), url.host?.isEmpty == false
        else {
            let front = Redaction.standard.redacted(urlText: String(given.prefix { $0 != "?" }))
            let shown = base.names.credentials.isEmpty ? String(front.prefix(60)) : "‹secret›"
            throw IntegrationError(.invalidURL, "The \(use) is no http or https URL: \(shown).")
        }
        return url
    }
}
