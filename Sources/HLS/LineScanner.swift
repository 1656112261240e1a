/// Cuts a playlist into lines, one after the other, without copying.
///
/// Lines end with LF or CR LF; a lone CR is not a line end (rule 1).
///
/// Source: RFC 8216 §4.1, `media.md` §7 rule 1.
struct LineScanner {
    private let bytes: Bytes
    private var offset = 0
    /// The number of the line given last, counted from 1.
    private(set) var number = 0

    init(_ bytes: Bytes) { self.bytes = bytes }

    /// The next line without its line end; nil behind the last one.
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
    /// Whether all bytes are printable ASCII other than `{`, so that a line needs neither a check of its encoding nor
    /// a search for variables. Nearly every line of nearly every playlist is plain.
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

    /// Sets the high bit of each byte that is no ASCII, below the space, DEL or `{`, in four vector operations.
    @inline(__always)
    private static func flaws(_ bytes: SIMD16<UInt8>) -> SIMD16<UInt8> {
        let brace = SIMD16<UInt8>(repeating: UInt8(ascii: "{"))
        return bytes | (bytes &- 0x20) | (bytes &+ 1) | ((bytes ^ brace) &- 1)
    }
}
