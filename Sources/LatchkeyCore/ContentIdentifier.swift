public import Foundation

/// The name of a key that an app gives the player for an SPC. The key server receives it as the SPC's asset ID.
///
/// A device accepts 2 to 200 bytes of any value. Which part of the key URI they are depends on the vendor.
///
/// Source: `Documentation/FairPlay.md` §4 and §13, `Documentation/Vendors/README.md` §0.
public struct ContentIdentifier: Sendable, Hashable {
    /// The bytes that go into the SPC.
    public let bytes: Data

    /// - Parameter bytes: the identifier, as the license service expects it.
    public init(bytes: Data) { self.bytes = bytes }

    /// - Parameter text: the identifier, taken as UTF-8.
    public init(_ text: String) { self.bytes = Data(text.utf8) }

    /// The bytes as text; `nil` if they are not valid UTF-8.
    public var text: String? { String(data: bytes, encoding: .utf8) }
}

extension ContentIdentifier: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) { self.init(value) }
    public var description: String { text ?? bytes.hexString }
}
