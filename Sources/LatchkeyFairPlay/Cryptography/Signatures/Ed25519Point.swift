/// Rejects encodings of Ed25519 points that are unsafe as keys, although libcrypto accepts them.
///
/// Anyone can forge signatures for a point of small order; some of these are valid for every message. A non-canonical encoding
/// would be the same key under another name.
///
/// Source: RFC 8032 §5.1.3; RFC 8725 §3.4 (validate all inputs of keys).
enum Ed25519Point {
    /// The y coordinates of the eight points of small order, little-endian: 0, 1, the two of order 8, and −1.
    private static let small: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
            0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
            0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
        ],
        [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
    ]

    /// Whether 32 bytes are the canonical encoding of a point that may be a key.
    static func mayBeKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 32, let last = bytes.last else { return false }
        // The highest bit is the sign of x. Either sign gives a point of small order or an invalid encoding.
        let y = bytes.dropLast() + [last & 0x7f]
        return isReduced(Array(y)) && !small.contains(Array(y))
    }

    /// Whether a coordinate is less than 2²⁵⁵ − 19, as the canonical encoding requires.
    private static func isReduced(_ y: [UInt8]) -> Bool {
        guard let first = y.first, y.last == 0x7f, y.dropFirst().dropLast().allSatisfy({ $0 == 0xff }) else {
            return true
        }
        return first < 0xed
    }
}
