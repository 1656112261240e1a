import Foundation
import LatchkeyCore

extension JSONValue {
    /// The canonical form of equal values: no blanks, members ordered by their UTF-8 bytes, whole numbers without a fraction, and escapes
    /// only where JSON requires them. A digest of it stays the same in every release.
    package var canonicalText: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .flag(let flag): bytes += (flag ? "true" : "false").utf8
        case .number(let number): bytes += Self.text(number).utf8
        case .text(let text): Self.append(text, quotedTo: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            let ordered = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in ordered.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.key, quotedTo: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func text(_ number: Double) -> String {
        guard number.isFinite else { return "null" }
        return Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    }

    /// A text as JSON writes it, with its quotes.
    package static func quoted(_ text: String) -> String {
        var quoted: [UInt8] = []
        append(text, quotedTo: &quoted)
        return String(decoding: quoted, as: UTF8.self)
    }

    /// Appends the UTF-8 of a text as JSON writes it, with its quotes. Most texts are copied unchanged.
    package static func append(_ text: String, quotedTo line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        if text.hasBytes(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5c || $0 == 0x7f }) {
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): line += [UInt8(ascii: "\\"), byte]
                case _ where byte < 0x20 || byte == 0x7f: line += "\\u\([0, byte].hexString)".utf8
                default: line.append(byte)
                }
            }
        } else {
            line += text.utf8
        }
        line.append(UInt8(ascii: "\""))
    }
}
