import Foundation

/// Any JSON value.
package enum JSONValue: Sendable, Hashable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// - Parameter json: a JSON text. The result is `nil` for anything else and above the limits of `JSONReader`.
    package init?(_ json: some Collection<UInt8>) {
        guard let value = try? JSONReader.value(of: json) else { return nil }
        self = value
    }

    /// A member of an object; `nil` for any other value.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    package var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The elements of an array.
    package var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// A number, or a text that is one, as some vendors write numbers.
    package var number: Double? {
        switch self {
        case .number(let number): number
        case .text(let text): JSONReader.number(text.utf8)
        default: nil
        }
    }

    /// A Boolean, or one of the texts `yes`, `true`, `no` and `false`.
    package var flag: Bool? {
        switch self {
        case .flag(let flag): flag
        case .text("yes"), .text("true"): true
        case .text("no"), .text("false"): false
        default: nil
        }
    }

    /// The texts of an array, or a single text.
    package var texts: [String]? {
        switch self {
        case .text(let text): [text]
        case .array(let values): values.compactMap(\.text)
        default: nil
        }
    }
}

extension JSONValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}
