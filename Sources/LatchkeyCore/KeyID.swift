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
        guard let bytes = Data(hexString: text.filter { !"-{}".contains($0) }) else { return nil }
        self.init(bytes: bytes)
    }
}

extension KeyID: CustomStringConvertible {
    /// Lower-case hexadecimal digits, grouped like a UUID: `8-4-4-4-12`.
    public var description: String {
        let hex = bytes.hexString
        let groups = [(0, 8), (8, 4), (12, 4), (16, 4), (20, 12)]
        return groups.map { hex.dropFirst($0.0).prefix($0.1) }.joined(separator: "-")
    }
}
