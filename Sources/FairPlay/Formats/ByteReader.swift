/// A cursor over bytes that never passes their end.
///
/// All parsing of SPC and CKC goes through it; nothing else indexes input.
package struct ByteReader {
    private let bytes: [UInt8]
    /// How many bytes were read.
    package private(set) var offset = 0

    /// - Parameter bytes: read from their start.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// How many bytes are left.
    package var remaining: Int { bytes.count - offset }

    /// Takes a number of 4 bytes, big-endian.
    package mutating func uint32() throws(EndOfBytes) -> UInt32 { try number() }

    /// Takes a number of 8 bytes, big-endian.
    package mutating func uint64() throws(EndOfBytes) -> UInt64 { try number() }

    /// Takes a number of bytes and says where they are.
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

/// Bytes that ended before what was to be read.
package struct EndOfBytes: Error {
    /// Where reading stopped.
    package let offset: Int
    /// How many bytes were wanted there.
    package let wanted: Int
    /// How many there were.
    package let found: Int
}
