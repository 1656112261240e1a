import Foundation
import LatchkeyCore

extension JSONValue {
    /// The canonical form of equal values: no blanks, members ordered by their UTF-8 bytes, whole numbers without a fraction, and escapes
    /// only where JSON requires them. A digest of it stays the same in every release.
    package var canonicalText: String {
        switch self {
        case .null: "null"
        case .flag(let flag): flag ? "true" : "false"
        case .number(let number): Self.text(number)
        case .text(let text): Self.quoted(text)
        case .array(let values): "[" + values.map(\.canonicalText).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .map { "\(Self.quoted($0)):\($1.canonicalText)" }.joined(separator: ",") + "}"
        }
    }

    private static func text(_ number: Double) -> String {
        guard number.isFinite else { return "null" }
        return Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }

    /// A text as JSON writes it, with its quotes.
    package static func quoted(_ text: String) -> String {
        var quoted = ""
        append(text, quotedTo: &quoted)
        return quoted
    }

    /// Appends a text as JSON writes it, with its quotes. Most texts are copied unchanged.
    package static func append(_ text: String, quotedTo line: inout String) {
        line += "\""
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c || $0 == 0x7f }) {
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"": line += "\\\""
                case "\\": line += "\\\\"
                case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                    line += "\\u" + [UInt8(0), UInt8(scalar.value)].hexString
                default: line.unicodeScalars.append(scalar)
                }
            }
        } else {
            line += text
        }
        line += "\""
    }
}
