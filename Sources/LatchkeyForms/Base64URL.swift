/// Base64 in the URL-safe alphabet, without padding, in its canonical spelling.
///
/// Source: RFC 4648 §3.5 and §5; RFC 7515 §2.
package enum Base64URL {
    /// The text of bytes.
    package static func text(_ bytes: some Collection<UInt8>) -> String {
        bytes.withContiguousStorageIfAvailable { text(of: UnsafeRawBufferPointer($0)) }
            ?? Array(bytes).withUnsafeBytes { text(of: $0) }
    }

    private static func text(of bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
            var (bits, count, length) = (UInt32(0), 0, 0)
            for byte in bytes {
                bits = bits << 8 | UInt32(byte)
                count += 8
                while count >= 6 {
                    count -= 6
                    text[length] = letter(UInt8(bits >> count & 0x3f))
                    length += 1
                }
            }
            if count > 0 {
                text[length] = letter(UInt8(bits << (6 - count) & 0x3f))
                length += 1
            }
            return length
        }
    }

    /// The bytes of a text that `text` would write; `nil` for every other spelling of them, and for anything else.
    ///
    /// So there is no padding, no blank, no letter of another alphabet, and no extra bit after the last byte.
    package static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        text.withContiguousStorageIfAvailable { bytes(ofText: UnsafeRawBufferPointer($0)) }
            ?? Array(text).withUnsafeBytes { bytes(ofText: $0) }
    }

    private static func bytes(ofText text: UnsafeRawBufferPointer) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for letter in text {
            guard let value = value(letter) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> count & 0xff))
            }
        }
        // One letter alone leaves six bits; others leave two or four, which are zeros.
        guard count < 6, bits & (1 << count - 1) == 0 else { return nil }
        return bytes
    }

    private static func letter(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + (value - 26)
        case 52..<62: UInt8(ascii: "0") + (value - 52)
        case 62: UInt8(ascii: "-")
        default: UInt8(ascii: "_")
        }
    }

    private static func value(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
