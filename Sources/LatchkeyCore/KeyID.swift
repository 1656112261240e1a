public import Foundation

/// The 16-byte identifier of a content key, written as a UUID or as 32 hexadecimal digits.
public struct KeyID: Sendable, Hashable {
    // Numbers, because `Data` of 16 bytes would be two allocations.
    /// The first and the last eight bytes, each with the most significant byte first.
    private let high, low: UInt64

    /// - Parameter bytes: exactly 16 bytes. Any other number gives `nil`.
    public init?(bytes: some Sequence<UInt8>) {
        // Called from other modules this is not specialized, and iterating would allocate for each byte.
        let numbers =
            bytes.withContiguousStorageIfAvailable { Self.numbers(UnsafeRawBufferPointer($0)) }
            ?? Array(bytes).withUnsafeBytes { Self.numbers($0) }
        guard let numbers else { return nil }
        (high, low) = numbers
    }

    private static func numbers(_ bytes: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64)? {
        guard bytes.count == 16 else { return nil }
        return (
            UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    /// - Parameter text: 32 hexadecimal digits in either case, with or without dashes and braces. Any other text gives `nil`.
    public init?(_ text: String) {
        var (high, low, count) = (0 as UInt64, 0 as UInt64, 0)
        for character in text.utf8 where !Self.isPunctuation(character) {
            guard count < 32, let digit = HexDigit.value(of: character) else { return nil }
            (high, low, count) = (high << 4 | low >> 60, low << 4 | UInt64(digit), count + 1)
        }
        guard count == 32 else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// The 16 bytes.
    public var bytes: Data {
        var bytes = Data(capacity: 16)
        for number in [high, low] { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
        return bytes
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
    }
}

extension KeyID: CustomStringConvertible {
    /// Lower-case hexadecimal digits, grouped like a UUID: `8-4-4-4-12`.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { text in
            var place = 0
            for digit in 0..<32 {
                if place == 8 || place == 13 || place == 18 || place == 23 {
                    text[place] = UInt8(ascii: "-")
                    place += 1
                }
                let number = digit < 16 ? high : low
                text[place] = HexDigit.character(of: UInt8(truncatingIfNeeded: number >> (60 - 4 * (digit % 16))) & 15)
                place += 1
            }
            return place
        }
    }
}
