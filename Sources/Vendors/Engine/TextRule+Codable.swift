extension TextRule: Codable {
    private static let plain: [String: TextRule] = [
        "wholeURI": .wholeURI, "remainder": .remainder, "remainderBeforeQuery": .remainderBeforeQuery,
        "afterFirstQuestionMark": .afterFirstQuestionMark, "afterLastQuestionMark": .afterLastQuestionMark,
        "lastPathComponent": .lastPathComponent, "host": .host, "firstQueryValue": .firstQueryValue,
        "httpsURI": .httpsURI, "contentID": .contentID, "spcIdentifier": .spcIdentifier, "spc": .spc,
        "spcURLSafe": .spcURLSafe,
    ]
    private static let plainNames = Dictionary(uniqueKeysWithValues: plain.map { ($1, $0) })

    private enum Key: String, CodingKey, CaseIterable {
        case afterLast, query, fixed, setting, credential, template
        case firstOf, all, joined, base64Decoded, base64, percentDecoded, percentEncoded, replacing, json
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

    public init(from decoder: any Decoder) throws {
        if let name = try? decoder.singleValueContainer().decode(String.self) {
            guard let rule = Self.plain[name] else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription: "\"\(name)\" is no rule; rules without parameters are "
                            + Self.plain.keys.sorted().joined(separator: ", ") + "."))
            }
            self = rule
            return
        }
        self = try Self.rule(in: decoder.container(keyedBy: AnyKey.self), decoder)
    }

    private static func rule(in container: KeyedDecodingContainer<AnyKey>, _ decoder: any Decoder) throws -> TextRule {
        guard container.allKeys.count == 1, let any = container.allKeys.first, let key = Key(rawValue: any.stringValue)
        else {
            let names = Key.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "A rule is a name or an object with exactly one of \(names)."))
        }
        func text() throws -> String { try container.decode(String.self, forKey: any) }
        func inner() throws -> TextRule { try container.decode(TextRule.self, forKey: any) }
        func list() throws -> [TextRule] { try container.decode([TextRule].self, forKey: any) }
        switch key {
        case .afterLast: return .afterLast(try text())
        case .query: return .query(try text())
        case .fixed: return .fixed(try text())
        case .setting: return .setting(try text())
        case .credential: return .credential(try text())
        case .template: return .template(try text())
        case .firstOf: return .firstOf(try list())
        case .all: return .all(try list())
        case .base64Decoded: return .base64Decoded(try inner())
        case .base64: return .base64(try inner())
        case .percentDecoded: return .percentDecoded(try inner())
        case .percentEncoded: return .percentEncoded(try inner())
        case .json: return .json(try container.decode(JSONTemplate.self, forKey: any))
        case .joined:
            let joined = try container.decode(Joined.self, forKey: any)
            return .joined(joined.of, separator: joined.separator)
        case .replacing:
            let replacing = try container.decode(Replacing.self, forKey: any)
            return .replacing(replacing.text, with: replacing.with, in: replacing.in)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        if let name = Self.plainNames[self] {
            var container = encoder.singleValueContainer()
            return try container.encode(name)
        }
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .afterLast(let text): try container.encode(text, forKey: .afterLast)
        case .query(let name): try container.encode(name, forKey: .query)
        case .fixed(let text): try container.encode(text, forKey: .fixed)
        case .setting(let name): try container.encode(name, forKey: .setting)
        case .credential(let name): try container.encode(name, forKey: .credential)
        case .template(let text): try container.encode(text, forKey: .template)
        case .firstOf(let rules): try container.encode(rules, forKey: .firstOf)
        case .all(let rules): try container.encode(rules, forKey: .all)
        case .base64Decoded(let rule): try container.encode(rule, forKey: .base64Decoded)
        case .base64(let rule): try container.encode(rule, forKey: .base64)
        case .percentDecoded(let rule): try container.encode(rule, forKey: .percentDecoded)
        case .percentEncoded(let rule): try container.encode(rule, forKey: .percentEncoded)
        case .json(let template): try container.encode(template, forKey: .json)
        case .joined(let rules, let separator):
            try container.encode(Joined(of: rules, separator: separator), forKey: .joined)
        case .replacing(let text, let replacement, let rule):
            try container.encode(Replacing(text: text, with: replacement, in: rule), forKey: .replacing)
        default: break  // The rules without parameters are encoded above.
        }
    }
}

/// A coding key of any name.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
