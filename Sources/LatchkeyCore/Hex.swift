package import Foundation

extension Data {
    /// - Parameter hexString: an even number of hexadecimal digits in either case. Any other text gives `nil`.
    package init?(hexString: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hexString.utf8.count / 2)
        var high: UInt8?
        for digit in hexString.utf8 {
            guard let value = Self.value(ofHexDigit: digit) else { return nil }
            guard let first = high else {
                high = value
                continue
            }
            bytes.append(first << 4 | value)
            high = nil
        }
        guard high == nil else { return nil }
        self.init(bytes)
    }

    private static func value(ofHexDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Sequence<UInt8> {
    /// Two lower-case hexadecimal digits per byte.
    @inlinable package var hexString: String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            let (high, low) = (byte >> 4, byte & 15)
            text.append(high < 10 ? 0x30 + high : 0x57 + high)
            text.append(low < 10 ? 0x30 + low : 0x57 + low)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
