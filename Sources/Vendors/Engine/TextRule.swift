/// Where a text comes from: a part of the key URI, a setting, a credential, the SPC, or a combination of those.
///
/// One small language for content identifiers, URLs, header fields and bodies. A rule gives a text or nothing; `firstOf`
/// goes on where a rule gives nothing, and a header or field whose rule gives nothing is left out.
///
/// In JSON a rule without parameters is its name (`"lastPathComponent"`), any other an object with one key
/// (`{"setting": "licenseURL"}`, `{"firstOf": ["host", "remainder"]}`).
///
/// Source: `vendors.md` §23.1, §23.2, §23.4 and §23.5.
public indirect enum TextRule: Sendable, Hashable {
    // Parts of the key URI, as text, never decoded.

    /// The key URI as the playlist states it.
    case wholeURI
    /// What stands behind `skd://`.
    case remainder
    /// What stands between `skd://` and the first `?`.
    case remainderBeforeQuery
    /// What stands behind the first `?`.
    case afterFirstQuestionMark
    /// What stands behind the last `?`.
    case afterLastQuestionMark
    /// What stands behind the last `/`, a query included.
    case lastPathComponent
    /// What stands between `skd://` and the first of `/ ? #`.
    case host
    /// What stands behind the last occurrence of a text.
    case afterLast(String)
    /// The value of a query item, its name compared without regard to letter case.
    case query(String)
    /// The value of the first query item, whatever its name.
    case firstQueryValue
    /// The key URI with its scheme replaced by `https`; nothing for a `data:` URI.
    case httpsURI

    // Values from elsewhere.

    /// This very text.
    case fixed(String)
    /// A setting of the integration; an empty one counts as not given.
    case setting(String)
    /// A credential of this attempt; an empty one counts as not given.
    case credential(String)
    /// What the request names the key by: the profile's `requestContentID`.
    case contentID
    /// What the SPC names the key by, where it is text.
    case spcIdentifier
    /// The SPC in base64, standard alphabet, padded, without line breaks.
    case spc
    /// The SPC in base64 of the URL-safe alphabet, padded.
    case spcURLSafe

    /// A value of the reply to the lookup that precedes the license request, such as an entitlement's token URL.
    case lookup(String)
    /// A value of the secure session that the license belongs to, such as its token.
    case session(String)
    /// A value at a path of the license reply's JSON, for the terms.
    case reply(String)
    /// An identifier that is new for every request, a UUID in lower case.
    case messageID

    // Combinations.

    /// The rule's text where a key is wanted for this purpose, else nothing.
    case onlyFor(KeyPurpose, TextRule)

    /// The first rule that gives a text that is not empty.
    case firstOf([TextRule])
    /// All texts in a row; nothing if one of them gives nothing.
    case all([TextRule])
    /// The texts that there are, with a separator between them; nothing if there is none.
    case joined([TextRule], separator: String)
    /// The text that base64 stands for, decoded leniently.
    case base64Decoded(TextRule)
    /// The rule's text where it has the form of base64 (standard alphabet, padded), else nothing.
    case ifBase64(TextRule)
    /// What stands in front of the first occurrence of a text; all of it where that does not occur.
    case upTo(String, in: TextRule)
    /// The base64 of the text's UTF-8 bytes.
    case base64(TextRule)
    /// The text with percent escapes decoded.
    case percentDecoded(TextRule)
    /// The text with all but unreserved characters percent-encoded.
    case percentEncoded(TextRule)
    /// The last rule's text, in which a text is replaced wherever it occurs.
    case replacing(String, with: TextRule, in: TextRule)
    /// A text with names in braces, `https://host/{contentID}`: a setting's name, `contentID`, `host`, `lastPathComponent`.
    case template(String)
    /// A JSON document, its keys in alphabetical order.
    case json(JSONTemplate)
}

extension TextRule: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self = .fixed(value) }
}

extension TextRule {
    /// The names of all settings and credentials that the rule reads.
    var names: (settings: Set<String>, credentials: Set<String>) {
        switch self {
        case .setting(let name): ([name], [])
        case .credential(let name): ([], [name])
        case .template(let text): (Set(TemplateText(text).names), [])
        case .firstOf(let rules), .all(let rules), .joined(let rules, _): Self.names(of: rules)
        case .base64Decoded(let rule), .base64(let rule), .percentDecoded(let rule), .percentEncoded(let rule),
            .ifBase64(let rule), .upTo(_, let rule):
            rule.names
        case .replacing(_, let replacement, let rule): Self.names(of: [replacement, rule])
        case .onlyFor(_, let rule): rule.names
        case .json(let template): Self.names(of: template.rules)
        default: ([], [])
        }
    }

    static func names(of rules: some Sequence<TextRule>) -> (settings: Set<String>, credentials: Set<String>) {
        rules.reduce(into: ([], [])) { all, rule in
            all.settings.formUnion(rule.names.settings)
            all.credentials.formUnion(rule.names.credentials)
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

    var names: [String] {
        parts.compactMap { part in
            if case .name(let name) = part, RuleContext.templateRules[name] == nil { name } else { nil }
        }
    }
}
