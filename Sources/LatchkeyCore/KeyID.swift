public import Foundation

/// The 16-byte identifier of a content key, written as a UUID or as 32 hexadecimal digits.
public struct KeyID: Sendable, Hashable {
    /// The 16 bytes.
    public let bytes: Data

    /// - Parameter bytes: exactly 16 bytes. Any other number gives `nil`.
    public init?(bytes: some Sequence<UInt8>) {
        let data = Data(bytes)
        guard data.count == 16 else { return nil }
        self.bytes = data
    }

    /// - Parameter text: 32 hexadecimal digits in either case, with or without dashes and braces. Any other text gives `nil`.
    public init?(_ text: String) {
        guard let bytes = Data(hexString: String(decoding: text.utf8.filter { !Self.isPunctuation($0) }, as: UTF8.self))
        else { return nil }
        self.init(bytes: bytes)
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
    }
}

extension KeyID: CustomStringConvertible {
    /// Lower-case hexadecimal digits, grouped like a UUID: `8-4-4-4-12`.
    public var description: String {
        var text = bytes.hexString
        // From behind, so that the places before stay the same.
        for place in [20, 16, 12, 8] { text.insert("-", at: text.utf8.index(text.startIndex, offsetBy: place)) }
        return text
    }
}
