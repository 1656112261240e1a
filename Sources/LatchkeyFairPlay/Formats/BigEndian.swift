/// Big-endian numbers. The protocol uses no other byte order.
extension FixedWidthInteger where Self: UnsignedInteger {
    /// The bytes, most significant first.
    package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { [UInt8]($0) } }

    /// The number that the bytes represent, most significant first. If there are too many bytes, the last ones count.
    package init(bigEndian bytes: ArraySlice<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}

extension ArraySlice<UInt8> {
    /// The numbers that the bytes represent, each with its most significant byte first. The count is a multiple of a number's
    /// size.
    package func bigEndianNumbers<Number: FixedWidthInteger & UnsignedInteger>() -> [Number] {
        let size = Number.bitWidth / 8
        return stride(from: startIndex, to: endIndex, by: size).map { Number(bigEndian: self[$0...].prefix(size)) }
    }
}

extension [UInt8] {
    /// Appends a number, most significant byte first.
    package mutating func append(bigEndian value: some FixedWidthInteger & UnsignedInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
