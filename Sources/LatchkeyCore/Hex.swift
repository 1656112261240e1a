package import Foundation

/// One hexadecimal digit.
@usableFromInline package enum HexDigit {
    /// The value of a digit in either case; `nil` for any other character.
    @inlinable package static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The lower-case character of a value below 16.
    @inlinable package static func character(of value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value - 10)
    }
}

extension Data {
    /// - Parameter hexString: an even number of hexadecimal digits in either case. Any other text gives `nil`.
    package init?(hexString: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hexString.utf8.count / 2)
        var high: UInt8?
        for digit in hexString.utf8 {
            guard let value = HexDigit.value(of: digit) else { return nil }
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
}

extension Collection<UInt8> {
    /// Two lower-case hexadecimal digits per byte.
    @inlinable package var hexString: String {
        String(unsafeUninitializedCapacity: 2 * count) { text in
            var place = 0
            for byte in self {
                text[place] = HexDigit.character(of: byte >> 4)
                text[place + 1] = HexDigit.character(of: byte & 15)
                place += 2
            }
            return place
        }
    }
}
