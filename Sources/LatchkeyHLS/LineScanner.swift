/// Splits a playlist into lines without copying.
///
/// A line ends with LF or CR LF; a lone CR is not a line end (HLS.md rule 1).
///
/// Source: RFC 8216 §4.1, `Documentation/HLS.md` §7 rule 1.
struct LineScanner {
    private let bytes: Bytes
    private var offset = 0
    /// The number of the last line returned, counted from 1.
    private(set) var number = 0

    init(_ bytes: Bytes) { self.bytes = bytes }

    /// The next line without its line end; `nil` after the last one.
    @inline(__always)
    mutating func next() -> Bytes? {
        guard offset < bytes.count else { return nil }
        let end = bytes.position(of: .lineFeed, from: offset) ?? bytes.count
        let hasReturn = end > offset && bytes.byte(at: end - 1) == .carriageReturn
        let line = bytes.part(offset, hasReturn ? end - 1 : end)
        offset = end + 1
        number += 1
        return line
    }
}

extension Bytes {
    /// Whether all bytes are printable ASCII except `{`. Such a line needs no encoding check and no search for variables. Nearly
    /// all lines are like this.
    @inline(__always)
    var isPlain: Bool {
        guard let base = baseAddress else { return true }
        guard count >= 16 else { return allSatisfy { $0 >= 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "{") } }
        var flaws = SIMD16<UInt8>(repeating: 0)
        var start = 0
        while start < count - 16 {
            flaws |= Self.flaws(base.loadUnaligned(fromByteOffset: start, as: SIMD16<UInt8>.self))
            start += 16
        }
        flaws |= Self.flaws(base.loadUnaligned(fromByteOffset: count - 16, as: SIMD16<UInt8>.self))
        let folded = unsafeBitCast(flaws, to: SIMD2<UInt64>.self)
        return (folded.x | folded.y) & 0x8080_8080_8080_8080 == 0
    }

    /// Sets the high bit of each byte that is not ASCII, less than the space, DEL or `{`, in four vector operations.
    @inline(__always)
    private static func flaws(_ bytes: SIMD16<UInt8>) -> SIMD16<UInt8> {
        let brace = SIMD16<UInt8>(repeating: UInt8(ascii: "{"))
        return bytes | (bytes &- 0x20) | (bytes &+ 1) | ((bytes ^ brace) &- 1)
    }
}
