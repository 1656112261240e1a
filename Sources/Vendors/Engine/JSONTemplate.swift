import Foundation

/// A JSON document whose texts are rules. Objects are written with their keys in alphabetical order, without white space.
///
/// In JSON a template looks like the document that it makes; a rule stands under the key `$`:
/// `{"spc": {"$": "spc"}, "id": {"$": {"query": "kid"}}, "version": 1, "kind": "fps"}`.
///
/// Source: `vendors.md` §23.5.
public indirect enum JSONTemplate: Sendable, Hashable {
    /// An object; a member whose rule gives nothing is left out.
    case object([String: JSONTemplate])
    /// An array.
    case array([JSONTemplate])
    /// A text made by a rule.
    case rule(TextRule)
    /// A text.
    case text(String)
    /// A whole number.
    case number(Int)
    /// True or false.
    case bool(Bool)
}

extension JSONTemplate: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(dictionaryLiteral elements: (String, JSONTemplate)...) {
        self = .object(Dictionary(elements) { $1 })
    }

    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int) { self = .number(value) }
}

extension JSONTemplate {
    /// All rules in the template.
    var rules: [TextRule] {
        switch self {
        case .object(let members): members.values.flatMap(\.rules)
        case .array(let elements): elements.flatMap(\.rules)
        case .rule(let rule): [rule]
        case .text, .number, .bool: []
        }
    }

    /// The document as text; nil where its one rule gives nothing.
    func text(_ context: RuleContext) -> String? {
        switch self {
        case .object(let members):
            let written = members.sorted { $0.key < $1.key }.compactMap { key, value in
                value.text(context).map { "\(Self.quoted(key)):\($0)" }
            }
            return "{\(written.joined(separator: ","))}"
        case .array(let elements): return "[\(elements.compactMap { $0.text(context) }.joined(separator: ","))]"
        case .rule(let rule): return context.text(rule).map(Self.quoted)
        case .text(let text): return Self.quoted(text)
        case .number(let number): return String(number)
        case .bool(let bool): return String(bool)
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension JSONTemplate: Codable {
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            if container.allKeys.map(\.stringValue) == ["$"] {
                self = .rule(try container.decode(TextRule.self, forKey: AnyKey(stringValue: "$")))
                return
            }
            let members = try container.allKeys.map {
                ($0.stringValue, try container.decode(JSONTemplate.self, forKey: $0))
            }
            self = .object(Dictionary(members) { $1 })
            return
        }
        if var elements = try? decoder.unkeyedContainer() {
            var templates: [JSONTemplate] = []
            while !elements.isAtEnd { templates.append(try elements.decode(JSONTemplate.self)) }
            self = .array(templates)
            return
        }
        let container = try decoder.singleValueContainer()
        if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .object(let members): try container.encode(members)
        case .array(let elements): try container.encode(elements)
        case .rule(let rule): try container.encode(["$": rule])
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .bool(let bool): try container.encode(bool)
        }
    }
}
