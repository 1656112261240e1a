import LatchkeyCore

/// A rule that consists of rules.
package protocol RuleTree {
    /// The rules directly inside this one, in the order in which they are evaluated.
    var children: [Self] { get }
}

extension RuleTree {
    /// The rule and all rules inside it, each before its children. Does not recurse, so that code may nest rules to any depth.
    package var tree: [Self] {
        var found: [Self] = []
        var open = [self]
        while let rule = open.popLast() {
            found.append(rule)
            open += rule.children.reversed()
        }
        return found
    }
}

// `children` and `source` are the only places that know each rule's parts and sources. Redaction, checks and fixed parts follow from them,
// and a new rule does not compile until both know it.
extension TextRule: RuleTree {
    package var children: [TextRule] {
        switch self {
        case .keyURI, .afterLast, .query, .request, .fixed, .setting, .credential, .lookup, .session, .reply: []
        case .onlyFor(_, let rule), .transformed(_, let rule), .upTo(_, let rule): [rule]
        case .firstOf(let rules), .all(let rules), .joined(let rules, _): rules
        case .replacing(_, let replacement, let rule): [replacement, rule]
        case .from(let source, let rule): [source, rule]
        case .template(let text): TemplateText(text).rules
        case .json(let template): template.rules
        }
    }

    /// Where the text of a leaf comes from; `nil` for a combinator, whose text comes from its children.
    var source: Source? {
        switch self {
        case .keyURI, .afterLast, .query: .keyURI
        case .request: .request
        case .fixed: .profile
        case .setting: .settings
        case .credential: .credentials
        case .lookup: .lookup
        case .session: .session
        case .reply: .reply
        case .onlyFor, .firstOf, .all, .joined, .transformed, .upTo, .replacing, .from, .template, .json: nil
        }
    }

    /// Where a text comes from.
    enum Source {
        case profile, settings, credentials, keyURI, request, lookup, session, reply

        /// Whether texts from here authorize, and must not be shown.
        var isSecret: Bool {
            switch self {
            case .credentials, .session: true
            case .profile, .settings, .keyURI, .request, .lookup, .reply: false
            }
        }

        /// Whether texts from here are the same for every key, if nothing is looked up and there is no session.
        var isFixed: Bool {
            switch self {
            case .profile, .settings, .credentials, .lookup, .session: true
            case .keyURI, .request, .reply: false
            }
        }
    }
}

extension TextRule {
    /// Whether the text holds a credential or a value of the session.
    var carriesCredential: Bool { tree.contains { $0.source?.isSecret == true } }

    /// Whether the text is the same for every key that is requested for a purpose, if nothing is looked up and there is no session.
    func isFixed(for purpose: KeyPurpose) -> Bool {
        // A rule for another purpose never gives a text.
        if case .onlyFor(let wanted, _) = self, wanted != purpose { return true }
        return source?.isFixed != false && children.allSatisfy { $0.isFixed(for: purpose) }
    }

    /// The names of all settings and credentials that the rule reads.
    package var names: (settings: Set<String>, credentials: Set<String>) { Self.names(of: CollectionOfOne(self)) }

    /// The names of all settings and credentials that rules read.
    static func names(of rules: some Sequence<TextRule>) -> (settings: Set<String>, credentials: Set<String>) {
        rules.lazy.flatMap(\.tree).reduce(into: ([], [])) { all, rule in
            if case .setting(let name) = rule { all.settings.insert(name) }
            if case .credential(let name) = rule { all.credentials.insert(name) }
        }
    }
}

/// A text with names in braces.
struct TemplateText {
    enum Part: Equatable { case text(String), name(String) }

    private(set) var parts: [Part] = []

    init(_ text: String) {
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            parts.append(.text(String(rest[..<open])))
            parts.append(.name(String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        parts.append(.text(String(rest)))
    }

    /// The rules that the names stand for.
    var rules: [TextRule] {
        parts.compactMap { if case .name(let name) = $0 { Self.rule(of: name) } else { nil } }
    }

    /// The rule that a name stands for: one of the rules that templates know, else the setting of the name.
    static func rule(of name: String) -> TextRule {
        switch name {
        case "contentID": .contentID
        case "host": .host
        case "lastPathComponent": .lastPathComponent
        case "remainder": .remainder
        default: .setting(name)
        }
    }
}
