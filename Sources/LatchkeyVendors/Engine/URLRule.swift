import Foundation
import LatchkeyCore

/// How the URL of a request is made: a text, and changes to it.
///
/// URLs are changed as text, so that the rest of a vendor's URL stays as the vendor wrote it.
///
/// Source: `Documentation/Vendors/README.md` §23.3.
package struct URLRule: Sendable, Hashable {
    /// Where the URL's text comes from.
    package var base: TextRule
    /// The changes to the text, in this order.
    package var changes: [Change]

    /// Makes a rule.
    package init(_ base: TextRule, _ changes: [Change] = []) {
        self.base = base
        self.changes = changes
    }

    /// A change to a URL.
    package enum Change: Sendable, Hashable {
        /// Removes the query.
        case stripQuery
        /// Sets a query item and replaces one of the same name. Does nothing if the rule gives nothing.
        case setQuery(name: String, value: TextRule)
        /// Adds a query item if there is none of that name, in any letter case.
        case addQueryIfAbsent(name: String, value: TextRule)
        /// Copies query items of the key URI, undecoded. Finds them in any letter case and writes the given names.
        case copyKeyURIQuery(names: [String])
        /// Copies query items of the key URI in the same way, but none whose name is there already, in any letter case.
        case copyKeyURIQueryIfAbsent(names: [String])
        /// Appends a path segment, percent-encoded, before the query.
        case appendPath(TextRule)
        /// Appends a path segment if the path does not end in it, in any letter case.
        case appendPathIfAbsent(TextRule)
        /// Replaces scheme, host and port by those of another URL.
        case useOrigin(TextRule)
    }
}

extension URLRule.Change {
    /// The rule in it, if any.
    var rule: TextRule? {
        switch self {
        case .setQuery(_, let rule), .addQueryIfAbsent(_, let rule), .appendPath(let rule),
            .appendPathIfAbsent(let rule),
            .useOrigin(let rule):
            rule
        case .stripQuery, .copyKeyURIQuery, .copyKeyURIQueryIfAbsent: nil
        }
    }

    /// The query item that a rule makes, if any.
    package var queryItem: (name: String, value: TextRule)? {
        switch self {
        case .setQuery(let name, let rule), .addQueryIfAbsent(let name, let rule): (name, rule)
        case .stripQuery, .copyKeyURIQuery, .copyKeyURIQueryIfAbsent, .appendPath, .appendPathIfAbsent, .useOrigin: nil
        }
    }

    /// The names of the key URI's query items that it copies.
    package var copiedNames: [String] {
        switch self {
        case .copyKeyURIQuery(let names), .copyKeyURIQueryIfAbsent(let names): names
        case .stripQuery, .setQuery, .addQueryIfAbsent, .appendPath, .appendPathIfAbsent, .useOrigin: []
        }
    }
}

extension URLRule {
    /// All rules in it.
    var rules: [TextRule] { [base] + changes.compactMap(\.rule) }

    /// Whether the URL is the same for every key that is requested for a purpose, if nothing is looked up.
    func isFixed(for purpose: KeyPurpose) -> Bool {
        rules.allSatisfy { $0.isFixed(for: purpose) } && changes.allSatisfy(\.copiedNames.isEmpty)
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
            throw IntegrationError(.invalidURL, "The \(use) is not an http or https URL: \(shown).")
        }
        return url
    }
}
