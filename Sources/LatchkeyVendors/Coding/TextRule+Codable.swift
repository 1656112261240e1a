import LatchkeyCore

extension TextRule: Codable {
    /// The name of a rule in JSON.
    enum Name: RawRepresentable, CaseIterable, Hashable {
        case keyURI(KeyURIPart), request(RequestValue), transformed(TextTransform), other(Form)

        static let allCases: [Name] =
            KeyURIPart.allCases.map(Name.keyURI) + RequestValue.allCases.map(Name.request)
            + TextTransform.allCases.map(Name.transformed) + Form.allCases.map(Name.other)

        init?(rawValue: String) {
            guard let name = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
            self = name
        }

        var rawValue: String {
            switch self {
            case .keyURI(let part): part.rawValue
            case .request(let value): value.rawValue
            case .transformed(let transform): transform.rawValue
            case .other(let form): form.rawValue
            }
        }
    }

    /// The rules with parameters of their own.
    enum Form: String, CaseIterable {
        case afterLast, query, fixed, setting, credential, template, lookup, session, reply
        case onlyFor, firstOf, all, joined, upTo, replacing, from, json
    }

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

    private struct From: Codable {
        let text: TextRule
        let take: TextRule
    }

    private struct OnlyFor: Codable {
        let purpose: KeyPurpose
        let text: TextRule
    }

    package init(from decoder: any Decoder) throws {
        let rule = try NamedRule<Name>(from: decoder)
        switch rule.name {
        case .keyURI(let part): self = .keyURI(part)
        case .request(let value): self = .request(value)
        case .transformed(let transform): self = .transformed(transform, try rule.parameter())
        case .other(let form): self = try Self.decoded(form, rule)
        }
    }

    private static func decoded(_ form: Form, _ rule: NamedRule<Name>) throws -> TextRule {
        switch form {
        case .afterLast: return .afterLast(try rule.parameter())
        case .query: return .query(try rule.parameter())
        case .fixed: return .fixed(try rule.parameter())
        case .setting: return .setting(try rule.parameter())
        case .credential: return .credential(try rule.parameter())
        case .template: return .template(try rule.parameter())
        case .lookup: return .lookup(try rule.parameter())
        case .session: return .session(try rule.parameter())
        case .reply: return .reply(try rule.parameter())
        case .firstOf: return .firstOf(try rule.parameter())
        case .all: return .all(try rule.parameter())
        case .json: return .json(try rule.parameter())
        case .onlyFor:
            let only = try rule.parameter(OnlyFor.self)
            return .onlyFor(only.purpose, only.text)
        case .joined:
            let joined = try rule.parameter(Joined.self)
            return .joined(joined.of, separator: joined.separator)
        case .upTo:
            let upTo = try rule.parameter(UpTo.self)
            return .upTo(upTo.text, in: upTo.in)
        case .replacing:
            let replacing = try rule.parameter(Replacing.self)
            return .replacing(replacing.text, with: replacing.with, in: replacing.in)
        case .from:
            let from = try rule.parameter(From.self)
            return .from(from.text, take: from.take)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .keyURI(let part): try encoder.encode(rule: part)
        case .request(let value): try encoder.encode(rule: value)
        case .transformed(let transform, let rule): try encoder.encode(rule: transform, rule)
        case .afterLast(let text): try encoder.encode(rule: Form.afterLast, text)
        case .query(let name): try encoder.encode(rule: Form.query, name)
        case .fixed(let text): try encoder.encode(rule: Form.fixed, text)
        case .setting(let name): try encoder.encode(rule: Form.setting, name)
        case .credential(let name): try encoder.encode(rule: Form.credential, name)
        case .template(let text): try encoder.encode(rule: Form.template, text)
        case .lookup(let name): try encoder.encode(rule: Form.lookup, name)
        case .session(let name): try encoder.encode(rule: Form.session, name)
        case .reply(let path): try encoder.encode(rule: Form.reply, path)
        case .firstOf(let rules): try encoder.encode(rule: Form.firstOf, rules)
        case .all(let rules): try encoder.encode(rule: Form.all, rules)
        case .json(let template): try encoder.encode(rule: Form.json, template)
        case .onlyFor(let purpose, let rule):
            try encoder.encode(rule: Form.onlyFor, OnlyFor(purpose: purpose, text: rule))
        case .joined(let rules, let separator):
            try encoder.encode(rule: Form.joined, Joined(of: rules, separator: separator))
        case .upTo(let text, let rule): try encoder.encode(rule: Form.upTo, UpTo(text: text, in: rule))
        case .replacing(let text, let replacement, let rule):
            try encoder.encode(rule: Form.replacing, Replacing(text: text, with: replacement, in: rule))
        case .from(let source, let rule): try encoder.encode(rule: Form.from, From(text: source, take: rule))
        }
    }
}
