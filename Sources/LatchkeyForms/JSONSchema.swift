/// The JSON allowed at a place, in the terms of JSON Schema, as used by OpenAPI 3.1.
///
/// Objects are written as literals, which name their members and whether they may be absent: `["name": .text, "ends?": .date]`. A list is
/// `[.text]`.
package struct JSONSchema: Sendable, Hashable {
    package private(set) var keywords: [String: JSONValue]

    package init(_ keywords: [String: JSONValue] = [:]) { self.keywords = keywords }

    package var json: JSONValue { .object(keywords) }

    /// The schema with further keywords, which take precedence.
    package func with(_ more: [String: JSONValue]) -> Self { Self(keywords.merging(more) { $1 }) }

    package func explained(_ text: String) -> Self { with(["description": .text(text)]) }

    /// A schema that is defined once in descriptions, under a name.
    package func named(_ name: String) -> Self { with(["title": .text(name)]) }
    package static func named(_ name: String, _ schema: Self) -> Self { schema.named(name) }

    private static func type(_ name: String) -> Self { Self(["type": .text(name)]) }

    package static let text = type("string")
    package static let date = text.with(["format": .text("date-time")])
    /// 64 hexadecimal digits.
    package static let sha256 = text.with(["pattern": .text("^[0-9a-f]{64}$")])
    package static let flag = type("boolean")
    package static let number = type("number")
    package static let whole = type("integer")
    package static let count = whole.with(["minimum": .number(0)])
    /// At least 1.
    package static let positive = whole.with(["minimum": .number(1)])
    package static let object = type("object")

    package static func words(_ words: [String]) -> Self { text.with(["enum": .array(words.map { .text($0) })]) }

    /// A constant value.
    package static func always(_ value: JSONValue) -> Self { Self(["const": value]) }

    package static func list(_ element: Self) -> Self { type("array").with(["items": element.json]) }

    /// An object whose members may have any names.
    package static func map(_ element: Self) -> Self { object.with(["additionalProperties": element.json]) }

    /// An object without further members.
    package static func object(_ members: [String: Self], required: [String]) -> Self {
        object.with([
            "properties": .object(members.mapValues(\.json)), "additionalProperties": .flag(false),
            "required": .array(required.sorted().map { .text($0) }),
        ])
    }

    package static func oneOf(_ schemas: [Self]) -> Self { Self(["oneOf": .array(schemas.map(\.json))]) }

    package static func anyOf(_ schemas: [Self]) -> Self { Self(["anyOf": .array(schemas.map(\.json))]) }
}

extension JSONSchema: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// An object: a member whose name ends with a question mark may be absent.
    package init(dictionaryLiteral members: (String, JSONSchema)...) {
        let named = members.map { ($0.0.hasSuffix("?") ? String($0.0.dropLast()) : $0.0, $0.1) }
        self = .object(
            Dictionary(named) { first, _ in first }, required: members.map(\.0).filter { !$0.hasSuffix("?") })
    }

    /// A list: of its only element.
    package init(arrayLiteral elements: JSONSchema...) {
        self = elements.count == 1 ? .list(elements[0]) : .list(.anyOf(elements))
    }
}
