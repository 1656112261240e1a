import Foundation

/// Describes a decoding error in words.
enum DecodingFailure {
    static func describe(_ error: any Error) -> (path: [any CodingKey], reason: String) {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            (context.codingPath + [key], "This member is missing.")
        case DecodingError.typeMismatch(let type, let context):
            (context.codingPath, "This should be \(form(of: type)).")
        case DecodingError.valueNotFound(let type, let context):
            (context.codingPath, "This is null and should be \(form(of: type)).")
        case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty:
            ([], "This is not JSON\(detail(context.underlyingError)).")
        case DecodingError.dataCorrupted(let context): (context.codingPath, context.debugDescription)
        default: ([], "This cannot be read.")
        }
    }

    private static func form(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a text"
        case is Int.Type, is any BinaryInteger.Type: "a whole number"
        case is Bool.Type: "true or false"
        case is any Sequence.Type where "\(type)".hasPrefix("Array"): "an array"
        default: "an object"
        }
    }

    private static func detail(_ error: (any Error)?) -> String {
        guard let text = (error as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String else { return "" }
        return ": " + text.prefix(100).trimmingCharacters(in: .punctuationCharacters)
    }
}

extension [any CodingKey] {
    /// The path in the form that a problem shows: `license.headers[0].value`.
    var jsonPlace: String {
        let text = reduce(into: "") { text, key in
            // A dictionary's numeric key also has an integer value, but its name is not "Index".
            let isIndex = key.intValue != nil && key.stringValue.hasPrefix("Index ")
            text += isIndex ? "[\(key.intValue ?? 0)]" : ".\(key.stringValue.prefix(60))"
        }
        return text.isEmpty ? "$" : String(text.drop { $0 == "." })
    }
}
