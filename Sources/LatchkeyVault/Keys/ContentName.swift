public import Foundation
import LatchkeyCore

/// The name of a piece of content, shared by an operator and its packagers: any bytes, usually text.
///
/// Names are compared byte for byte, unlike `String`, which treats two Unicode forms of a letter as equal.
///
/// Source: `Documentation/LicenseServer.md` §2.2 and §4.
public struct ContentName: Sendable, Hashable {
    /// The bytes. 1 to 256.
    public let bytes: Data

    /// - Parameter bytes: the bytes as the packager sent them.
    /// - Returns: `nil` for empty bytes and for more than 256.
    public init?(bytes: Data) {
        guard 1...256 ~= bytes.count else { return nil }
        self.bytes = Data(bytes)
    }

    /// - Parameter text: the name, taken as UTF-8.
    /// - Returns: `nil` for empty text and for more than 256 bytes.
    public init?(_ text: String) { self.init(bytes: Data(text.utf8)) }

    /// The bytes as text; `nil` if they are not UTF-8.
    public var text: String? { String(data: bytes, encoding: .utf8) }
}

extension ContentName: CustomStringConvertible {
    /// The text on one line, or hexadecimal digits.
    public var description: String { text?.onOneLine ?? bytes.hexString }
}
