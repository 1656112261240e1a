extension TextRule: Codable {
    private enum Name: String, CaseIterable {
        case wholeURI, remainder, remainderBeforeQuery, afterFirstQuestionMark, afterLastQuestionMark
        case lastPathComponent, host, firstQueryValue, httpsURI, contentID, spcIdentifier, spc, spcURLSafe
        case afterLast, query, fixed, setting, credential, template
        case lookup, session, messageID, reply, onlyFor
        case firstOf, all, joined, base64Decoded, base64, percentDecoded, percentEncoded, replacing, json
        case ifBase64, upTo
    }

    private static let plain: [Name: TextRule] = [
        .wholeURI: .wholeURI, .remainder: .remainder, .remainderBeforeQuery: .remainderBeforeQuery,
        .afterFirstQuestionMark: .afterFirstQuestionMark, .afterLastQuestionMark: .afterLastQuestionMark,
        .lastPathComponent: .lastPathComponent, .host: .host, .firstQueryValue: .firstQueryValue, .httpsURI: .httpsURI,
        .contentID: .contentID, .spcIdentifier: .spcIdentifier, .spc: .spc, .spcURLSafe: .spcURLSafe,
        .messageID: .messageID,
    ]

    private struct Joined: Codable {
        let of: [TextRule]
        let separator: String
    }

    private struct Replacing: Codable {
        let text: String
        let with: TextRule
        let `in`: TextRule
    }

    private struct UpTo: Codable {
        let text: String
        let `in`: TextRule
    }

    private struct OnlyFor: Codable {
        let purpose: KeyPurpose
        let text: TextRule
    }

    public init(from decoder: any Decoder) throws {
        let rule = try NamedRule<Name>(from: decoder)
        switch rule.name {
        case .afterLast: self = .afterLast(try rule.parameter())
        case .query: self = .query(try rule.parameter())
        case .fixed: self = .fixed(try rule.parameter())
        case .setting: self = .setting(try rule.parameter())
        case .credential: self = .credential(try rule.parameter())
        case .template: self = .template(try rule.parameter())
        case .lookup: self = .lookup(try rule.parameter())
        case .session: self = .session(try rule.parameter())
        case .reply: self = .reply(try rule.parameter())
        case .onlyFor:
            let only: OnlyFor = try rule.parameter()
            self = .onlyFor(only.purpose, only.text)
        case .firstOf: self = .firstOf(try rule.parameter())
        case .all: self = .all(try rule.parameter())
        case .base64Decoded: self = .base64Decoded(try rule.parameter())
        case .base64: self = .base64(try rule.parameter())
        case .percentDecoded: self = .percentDecoded(try rule.parameter())
        case .percentEncoded: self = .percentEncoded(try rule.parameter())
        case .json: self = .json(try rule.parameter())
        case .ifBase64: self = .ifBase64(try rule.parameter())
        case .upTo:
            let upTo: UpTo = try rule.parameter()
            self = .upTo(upTo.text, in: upTo.in)
        case .joined:
            let joined: Joined = try rule.parameter()
            self = .joined(joined.of, separator: joined.separator)
        case .replacing:
            let replacing: Replacing = try rule.parameter()
            self = .replacing(replacing.text, with: replacing.with, in: replacing.in)
        default: self = Self.plain[rule.name] ?? .wholeURI  // Each name left is in the table; a test says so.
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .afterLast(let text): try encoder.encode(rule: Name.afterLast, text)
        case .query(let name): try encoder.encode(rule: Name.query, name)
        case .fixed(let text): try encoder.encode(rule: Name.fixed, text)
        case .setting(let name): try encoder.encode(rule: Name.setting, name)
        case .credential(let name): try encoder.encode(rule: Name.credential, name)
        case .template(let text): try encoder.encode(rule: Name.template, text)
        case .lookup(let name): try encoder.encode(rule: Name.lookup, name)
        case .session(let name): try encoder.encode(rule: Name.session, name)
        case .reply(let path): try encoder.encode(rule: Name.reply, path)
        case .onlyFor(let purpose, let rule):
            try encoder.encode(rule: Name.onlyFor, OnlyFor(purpose: purpose, text: rule))
        case .firstOf(let rules): try encoder.encode(rule: Name.firstOf, rules)
        case .all(let rules): try encoder.encode(rule: Name.all, rules)
        case .base64Decoded(let rule): try encoder.encode(rule: Name.base64Decoded, rule)
        case .base64(let rule): try encoder.encode(rule: Name.base64, rule)
        case .percentDecoded(let rule): try encoder.encode(rule: Name.percentDecoded, rule)
        case .percentEncoded(let rule): try encoder.encode(rule: Name.percentEncoded, rule)
        case .json(let template): try encoder.encode(rule: Name.json, template)
        case .ifBase64(let rule): try encoder.encode(rule: Name.ifBase64, rule)
        case .upTo(let text, let rule): try encoder.encode(rule: Name.upTo, UpTo(text: text, in: rule))
        case .joined(let rules, let separator):
            try encoder.encode(rule: Name.joined, Joined(of: rules, separator: separator))
        case .replacing(let text, let replacement, let rule):
            try encoder.encode(rule: Name.replacing, Replacing(text: text, with: replacement, in: rule))
        default:
            guard let name = Self.plain.first(where: { $0.value == self })?.key else { return }
            try encoder.encode(rule: name)
        }
    }
}
