/// A bounds-checked cursor over bytes.
///
/// All SPC and CKC parsing goes through it; no other code indexes input. If too few bytes are left, a read returns `nil` and
/// the cursor does not move.
package struct ByteReader {
    private let bytes: [UInt8]
    /// The number of bytes read.
    package private(set) var offset = 0
    /// The number of bytes that the last read requested.
    private(set) var wanted = 0

    /// - Parameter bytes: the bytes to read, from their start.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes left.
    package var remaining: Int { bytes.count - offset }

    /// The reason that the last read failed, as a clause.
    var shortage: String { "at byte \(offset) it wants \(wanted) bytes and has \(remaining)" }

    /// Reads a big-endian number of 4 bytes.
    package mutating func uint32() -> UInt32? { number() }

    /// Reads a big-endian number of 8 bytes.
    package mutating func uint64() -> UInt64? { number() }

    /// Skips a number of bytes and returns their range.
    package mutating func take(_ count: Int) -> Range<Int>? {
        wanted = count
        guard count >= 0, count <= remaining else { return nil }
        defer { offset += count }
        return offset..<offset + count
    }

    private mutating func number<Number: FixedWidthInteger>() -> Number? {
        guard let range = take(Number.bitWidth / 8) else { return nil }
        return bytes.withUnsafeBytes {
            Number(bigEndian: $0.loadUnaligned(fromByteOffset: range.lowerBound, as: Number.self))
        }
    }
}
