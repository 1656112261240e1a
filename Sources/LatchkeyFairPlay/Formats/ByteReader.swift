/// A bounds-checked cursor over bytes.
///
/// All parsing of SPCs and CKCs uses it; nothing else indexes input.
package struct ByteReader {
    private let bytes: [UInt8]
    /// The number of bytes read.
    package private(set) var offset = 0

    /// - Parameter bytes: the bytes to read, from their start.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The number of bytes left.
    package var remaining: Int { bytes.count - offset }

    /// Reads a big-endian number of 4 bytes.
    package mutating func uint32() throws(EndOfBytes) -> UInt32 { try number() }

    /// Reads a big-endian number of 8 bytes.
    package mutating func uint64() throws(EndOfBytes) -> UInt64 { try number() }

    /// Skips a number of bytes and returns their range.
    package mutating func take(_ count: Int) throws(EndOfBytes) -> Range<Int> {
        guard count >= 0, count <= remaining else { throw EndOfBytes(offset: offset, wanted: count, found: remaining) }
        defer { offset += count }
        return offset..<offset + count
    }

    private mutating func number<Number: FixedWidthInteger>() throws(EndOfBytes) -> Number {
        let range = try take(Number.bitWidth / 8)
        return bytes.withUnsafeBytes {
            Number(bigEndian: $0.loadUnaligned(fromByteOffset: range.lowerBound, as: Number.self))
        }
    }
}

/// The bytes ended before a value was complete.
package struct EndOfBytes: Error {
    /// The offset of the incomplete value.
    package let offset: Int
    /// The number of bytes that the value needs.
    package let wanted: Int
    /// The number of bytes that were left.
    package let found: Int
}
