import Foundation

/// A range of a playlist's bytes, valid only while the playlist is read.
///
/// The functions below accept any position and never read outside the range. This module does not subscript it in any other way.
typealias Bytes = UnsafeRawBufferPointer

extension Bytes {
    /// The position of the first such byte at or after a position.
    @inline(__always)
    func position(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start >= 0, start < count, let base = baseAddress else { return nil }
        guard let found = memchr(base + start, Int32(byte), count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// The bytes from one position up to another; empty if the positions are out of order or out of bounds.
    @inline(__always)
    func part(_ start: Int, _ end: Int) -> Bytes {
        guard start >= 0, start <= end, end <= count, let base = baseAddress else { return Bytes(start: nil, count: 0) }
        return Bytes(start: base + start, count: end - start)
    }

    /// The bytes from a position to the end.
    @inline(__always)
    func from(_ start: Int) -> Bytes { part(start, count) }

    /// The byte at a position; 0 if the position is out of bounds.
    @inline(__always)
    func byte(at position: Int) -> UInt8 { position >= 0 && position < count ? self[position] : 0 }

    @inline(__always)
    func hasPrefix(_ prefix: StaticString) -> Bool {
        guard count >= prefix.utf8CodeUnitCount, let base = baseAddress else { return false }
        return memcmp(base, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
    }

    @inline(__always)
    func equals(_ text: StaticString) -> Bool { count == text.utf8CodeUnitCount && (count == 0 || hasPrefix(text)) }

    @inline(__always)
    func equals(_ other: Bytes) -> Bool {
        guard count == other.count else { return false }
        guard let base = baseAddress, let otherBase = other.baseAddress else { return true }
        return memcmp(base, otherBase, count) == 0
    }

    /// The bytes as text. The reader has already refused invalid UTF-8.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// The bytes without blanks and tabs at both ends.
    var trimmed: Bytes {
        var (start, end) = (0, count)
        while start < end, byte(at: start).isBlank { start += 1 }
        while end > start, byte(at: end - 1).isBlank { end -= 1 }
        return part(start, end)
    }
}

extension UInt8 {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let comma = UInt8(ascii: ",")
    static let equalsSign = UInt8(ascii: "=")
    static let quote = UInt8(ascii: "\"")

    /// A space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    var isUppercase: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }

    var isLowercase: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }

    var isHexDigit: Bool {
        isDigit || (self >= UInt8(ascii: "a") && self <= UInt8(ascii: "f"))
            || (self >= UInt8(ascii: "A") && self <= UInt8(ascii: "F"))
    }
}
