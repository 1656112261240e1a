import Foundation
import Latchkey
import LatchkeyCore

/// A body as recorded and, if it differs from the body that was sent, why.
///
/// Recorders write bytes in several ways: as base64 with `"encoding": "base64"`, as text in which each character represents a byte (ISO
/// 8859-1 or Windows-1252; escaped surrogates for bytes that are not UTF-8), or as UTF-8 text in which U+FFFD replaces lost bytes.
///
/// Source: HTTP Archive 1.2; WHATWG Encoding §9 (the label `latin1` is Windows-1252); Python, PEP 383 (surrogate escapes).
struct RecordedBody {
    let bytes: Data
    let gap: BodyGap?

    /// - Parameters:
    ///   - stated: the number of bytes that the recording states; `nil` if it does not.
    ///   - sent: the number of bytes that the message's own header states; `nil` if it does not.
    ///   - mayBeMissing: whether a body without text and without a stated length may have been left out.
    init(text: String?, encoding: String?, stated: Int?, sent: Int? = nil, mayBeMissing: Bool) {
        guard let text, !text.isEmpty else {
            (bytes, gap) = (Data(), stated.map { $0 > 0 } ?? mayBeMissing ? .notSaved : nil)
            return
        }
        if encoding?.lowercased() == "base64" {
            let decoded = Data(base64Encoded: text, options: .ignoreUnknownCharacters)
            bytes = decoded ?? Data(text.utf8)
            // Some recorders state the length of the text.
            gap = decoded == nil ? .undecodable : stated == text.utf8.count ? nil : Self.cut(bytes.count, stated)
            return
        }
        // Some recorders write base64 without saying so. The message's own length decides, or else the length that the recorder states.
        if let length = sent ?? stated, length != text.utf8.count,
            length == text.utf8.count / 4 * 3 - Self.padding(text),
            let decoded = Data(base64Encoded: text)
        {
            (bytes, gap) = (decoded, nil)
            return
        }
        let asSent = Data(text.utf8)
        guard asSent.count != stated, Self.isBinary(text) else {
            (bytes, gap) = (asSent, Self.cut(asSent.count, stated))
            return
        }
        if let single = Self.singleBytes(text) {
            (bytes, gap) = (single, Self.cut(single.count, stated))
        } else {
            (bytes, gap) = (asSent, text.unicodeScalars.contains("\u{fffd}") ? .lossy : nil)
        }
    }

    /// A few missing bytes may be a byte order mark that the recorder removed; text in other character sets has fewer bytes than in UTF-8.
    private static func cut(_ count: Int, _ stated: Int?) -> BodyGap? { (stated ?? 0) > count + 3 ? .cutShort : nil }

    private static func padding(_ text: String) -> Int { text.utf8.suffix(2).count { $0 == UInt8(ascii: "=") } }

    /// Text has no control characters other than line breaks.
    private static func isBinary(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 && !"\t\n\r\u{c}".unicodeScalars.contains($0) }
    }

    /// The bytes of the characters; `nil` if one does not represent a byte.
    private static func singleBytes(_ text: String) -> Data? {
        var bytes = Data(capacity: text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0...0xff: bytes.append(UInt8(scalar.value))
            case escapes: bytes.append(UInt8(scalar.value - 0xf700))
            default:
                guard let place = windows1252.firstIndex(of: scalar.value) else { return nil }
                bytes.append(0x80 + UInt8(place))
            }
        }
        return bytes
    }

    /// The characters of 0x80 to 0x9f in Windows-1252; 0 where it has none.
    private static let windows1252: [UInt32] = [
        0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0,
        0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e,
        0x0178,
    ]

    /// The private-use characters that represent escaped surrogates, whose low byte is the byte.
    private static let escapes: ClosedRange<UInt32> = 0xf780...0xf7ff
}

extension RecordedBody {
    /// JSON in which lone surrogates, which escape single bytes, are replaced by private-use characters: no JSON reader accepts the former.
    static func withoutLoneSurrogates(_ json: Data) -> Data {
        let bytes = [UInt8](json)
        guard bytes.place(of: Array("\\ud".utf8)) != nil || bytes.place(of: Array("\\uD".utf8)) != nil else {
            return json
        }
        var (found, index) = (Data(capacity: bytes.count), 0)
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\") else {
                found.append(bytes[index])
                index += 1
                continue
            }
            let unit = unit(bytes, at: index)
            let isPair = unit.map { 0xd800..<0xdc00 ~= $0 } == true && isLow(Self.unit(bytes, at: index + 6))
            switch unit {
            case let unit? where isLow(unit) || 0xd800..<0xdc00 ~= unit && !isPair:
                let character = 0xdc80...0xdcff ~= unit ? 0xf700 + (unit & 0xff) : 0xfffd
                found += Data("\\u\(String(character, radix: 16))".utf8)
                index += 6
            default:
                let length = isPair ? 12 : 2
                found += bytes[index..<min(index + length, bytes.count)]
                index += length
            }
        }
        return found
    }

    private static func isLow(_ unit: UInt32?) -> Bool { unit.map { 0xdc00..<0xe000 ~= $0 } ?? false }

    /// The unit of `\uXXXX`.
    private static func unit(_ bytes: [UInt8], at index: Int) -> UInt32? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        return UInt32(String(decoding: bytes[index + 2..<index + 6], as: UTF8.self), radix: 16)
    }
}
