import Foundation

/// A JSON document whose texts are rules. Objects are written with their keys in alphabetical order, without white space.
///
/// In JSON a template looks like the document that it makes. The key `$` marks a rule:
/// `{"spc": {"$": "spc"}, "id": {"$": {"query": "kid"}}, "version": 1, "kind": "fps"}`. The key `$number` marks a rule that makes a
/// whole number: `{"type": {"$number": {"setting": "requestType"}}}`.
///
/// Source: `Documentation/Vendors/README.md` §23.5.
package indirect enum JSONTemplate: Sendable, Hashable {
    /// An object. A member whose rule gives nothing is left out.
    case object([String: JSONTemplate])
    /// An array.
    case array([JSONTemplate])
    /// A text made by a rule.
    case rule(TextRule)
    /// A whole number made by a rule.
    case wholeNumber(TextRule)
    /// A text.
    case text(String)
    /// A whole number.
    case number(Int)
    /// True or false.
    case bool(Bool)
}

extension JSONTemplate: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    package init(dictionaryLiteral elements: (String, JSONTemplate)...) {
        self = .object(Dictionary(elements) { $1 })
    }

    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int) { self = .number(value) }
}

extension JSONTemplate: RuleTree {
    package var children: [JSONTemplate] {
        switch self {
        case .object(let members): members.sorted { $0.key < $1.key }.map(\.value)
        case .array(let elements): elements
        case .rule, .wholeNumber, .text, .number, .bool: []
        }
    }

    /// All rules in the template.
    var rules: [TextRule] {
        tree.compactMap { part in
            switch part {
            case .rule(let rule), .wholeNumber(let rule): rule
            case .object, .array, .text, .number, .bool: nil
            }
        }
    }

    /// The members of all objects, each with the rules of its value. An object among the values is listed with its members.
    var members: [(name: String, rules: [TextRule])] {
        tree.flatMap { part in
            guard case .object(let members) = part else { return [(name: String, rules: [TextRule])]() }
            return members.sorted { $0.key < $1.key }.compactMap { name, value in
                if case .object = value { nil } else { (name, value.rules) }
            }
        }
    }

    /// The document as text; `nil` if it is a rule that gives nothing.
    func text(_ context: RuleContext) -> String? {
        switch self {
        case .object(let members):
            let written = members.sorted { $0.key < $1.key }.compactMap { key, value in
                value.text(context).map { "\(Self.quoted(key)):\($0)" }
            }
            return "{\(written.joined(separator: ","))}"
        case .array(let elements): return "[\(elements.compactMap { $0.text(context) }.joined(separator: ","))]"
        case .rule(let rule): return context.text(rule).map(Self.quoted)
        case .wholeNumber(let rule): return context.text(rule).flatMap { Int($0) }.map(String.init)
        case .text(let text): return Self.quoted(text)
        case .number(let number): return String(number)
        case .bool(let bool): return String(bool)
        }
    }

    /// The first rule that has to give a whole number and gives another text, or `nil`.
    func unfitNumber(_ context: RuleContext) -> TextRule? {
        tree.lazy.compactMap { if case .wholeNumber(let rule) = $0 { rule } else { nil } }
            .first { context.text($0).map { Int($0) == nil } == true }
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
