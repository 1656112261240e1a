public import Foundation

/// What an app names a key by when it asks for an SPC; arrives at the key server as the SPC's asset ID.
///
/// Any bytes; 2 to 200 of them are what a device accepts. Which part of the key URI they are differs by vendor.
///
/// Source: `fps-protocol.md` §4 and §13, `vendors.md` §0.
public struct ContentIdentifier: Sendable, Hashable {
    /// The bytes that go into the SPC.
    public let bytes: Data

    /// - Parameter bytes: the identifier, as the license service expects it.
    public init(bytes: Data) { self.bytes = bytes }

    /// - Parameter text: the identifier, taken as UTF-8.
    public init(_ text: String) { self.bytes = Data(text.utf8) }

    /// The bytes as text, where they are valid UTF-8.
    public var text: String? { String(data: bytes, encoding: .utf8) }
}

extension ContentIdentifier: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) { self.init(value) }
    public var description: String { text ?? bytes.hexString }
}
