import Foundation
import LatchkeyCore

extension JSONValue {
    /// The one form in which equal values are written: no blanks, members ordered by their UTF-8 bytes, whole numbers without a
    /// fraction, and escapes only where JSON demands them. A digest of it stays the same in every release.
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
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c || $0 == 0x7f }) else {
            return "\"\(text)\""
        }
        return text.unicodeScalars.reduce(into: "\"") { quoted, scalar in
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                quoted += "\\u" + [UInt8(0), UInt8(scalar.value)].hexString
            default: quoted.unicodeScalars.append(scalar)
            }
        } + "\""
    }
}
