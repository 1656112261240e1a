import Foundation
import LatchkeyDecision
import LatchkeyForms
import LatchkeyLicensing

/// The form of a value in an answer: one table of its members, from which the JSON and its description follow.
struct AnswerForm<Root: Sendable>: Sendable {
    struct Member: Sendable {
        fileprivate let name: String
        fileprivate let schema: JSONSchema
        fileprivate let isRequired: Bool
        fileprivate let json: @Sendable (Root) -> JSONValue?
    }

    let schema: JSONSchema
    private let members: [Member]

    /// - Parameters:
    ///   - name: the schema's, for a value of several answers.
    ///   - members: in any order.
    init(named name: String? = nil, _ members: [Member]) {
        let schema = JSONSchema.object(
            Dictionary(members.map { ($0.name, $0.schema) }) { first, _ in first },
            required: members.filter(\.isRequired).map(\.name))
        self.schema = name.map(schema.named) ?? schema
        self.members = members
    }

    func json(_ root: Root) -> JSONValue {
        .members(Dictionary(members.map { ($0.name, $0.json(root)) }) { first, _ in first })
    }
}

extension AnswerForm.Member {
    /// A member that may be absent if its value is optional.
    static func value<Value: AnswerValue>(_ name: String, _ value: @escaping @Sendable (Root) -> Value) -> Self {
        Self(name: name, schema: Value.schema, isRequired: !Value.mayBeAbsent) { value($0).json }
    }

    /// A list of values with their own form.
    static func list<Inner: Sendable>(
        _ name: String, of form: AnswerForm<Inner>, _ values: @escaping @Sendable (Root) -> [Inner]
    ) -> Self {
        Self(name: name, schema: .list(form.schema), isRequired: true) { .array(values($0).map(form.json)) }
    }

    /// A member whose JSON is made already; with a question mark behind its name it may be absent.
    static func made(
        _ name: String, _ schema: JSONSchema, _ value: @escaping @Sendable (Root) -> JSONValue?
    ) -> Self {
        Self(name: name.replacing("?", with: ""), schema: schema, isRequired: !name.hasSuffix("?"), json: value)
    }
}

/// A value that answers contain without a form.
protocol AnswerValue: Sendable {
    static var schema: JSONSchema { get }
    static var mayBeAbsent: Bool { get }
    var json: JSONValue? { get }
}

extension AnswerValue {
    static var mayBeAbsent: Bool { false }
}

extension Optional: AnswerValue where Wrapped: AnswerValue {
    static var schema: JSONSchema { Wrapped.schema }
    static var mayBeAbsent: Bool { true }
    var json: JSONValue? { flatMap(\.json) }
}

extension Array: AnswerValue where Element: AnswerValue {
    static var schema: JSONSchema { [Element.schema] }
    var json: JSONValue? { .array(compactMap(\.json)) }
}

extension Dictionary: AnswerValue where Key == String, Value: AnswerValue {
    static var schema: JSONSchema { .map(Value.schema) }
    var json: JSONValue? { .members(mapValues(\.json)) }
}

extension String: AnswerValue {
    static let schema = JSONSchema.text
    var json: JSONValue? { .text(self) }
}

extension Bool: AnswerValue {
    static let schema = JSONSchema.flag
    var json: JSONValue? { .flag(self) }
}

extension Int: AnswerValue {
    static let schema = JSONSchema.count
    var json: JSONValue? { .number(self) }
}

extension UInt64: AnswerValue {
    static let schema = JSONSchema.count
    var json: JSONValue? { .number(Double(self)) }
}

extension Date: AnswerValue {
    static let schema = JSONSchema.date
    var json: JSONValue? { .date(self) }
}

extension AdminRole: AnswerValue {
    static let schema = JSONForm<AdminRole>.word.schema
    var json: JSONValue? { .text(rawValue) }
}
