/// Reading and writing of big-endian numbers, the only byte order of the exchange.
extension FixedWidthInteger where Self: UnsignedInteger {
    /// The bytes, most significant first.
    package var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { [UInt8]($0) } }

    /// The number that bytes make, most significant first; the lowest bytes where there are too many.
    package init(bigEndian bytes: ArraySlice<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | Self($1) }
    }
}

extension [UInt8] {
    /// Appends a number, most significant byte first.
    package mutating func append(bigEndian value: some FixedWidthInteger & UnsignedInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
