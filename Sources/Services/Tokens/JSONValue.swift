import Foundation

/// Any JSON, read without knowing its shape.
enum JSONValue: Sendable, Hashable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// - Parameter json: a JSON text; nil comes back for anything else.
    init?(_ json: Data) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: json) else { return nil }
        self = value
    }

    /// A member of an object; nil for everything else.
    subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// A number, or a text that is one, as some vendors write them.
    var number: Double? {
        switch self {
        case .number(let number): number
        case .text(let text): Double(text)
        default: nil
        }
    }

    /// A Boolean, or a text that says yes or no.
    var flag: Bool? {
        switch self {
        case .flag(let flag): flag
        case .text("yes"), .text("true"): true
        case .text("no"), .text("false"): false
        default: nil
        }
    }

    /// The texts of an array, or the one text.
    var texts: [String]? {
        switch self {
        case .text(let text): [text]
        case .array(let values): values.compactMap(\.text)
        default: nil
        }
    }
}

extension JSONValue: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let values = try? container.decode([JSONValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
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
