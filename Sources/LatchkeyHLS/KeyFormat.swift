import LatchkeyCore

/// The key system of a key tag: its KEYFORMAT.
///
/// Two formats are equal if their bytes are equal (HLS.md rule 4); `String` would also accept other Unicode forms of an accent.
///
/// Source: RFC 8216 §4.3.2.4, `Documentation/HLS.md` §7 rules 4, 12 and 14.
public struct KeyFormat: Sendable {
    /// The text as in the playlist.
    public let text: String

    /// - Parameter text: the text as in a playlist.
    public init(_ text: String) { self.text = text }

    /// The format of a tag without KEYFORMAT: the URI leads to the 16 bytes of the key.
    public static let identity = KeyFormat("identity")
    /// FairPlay Streaming, whatever the scheme of the URI.
    public static let fairPlay = KeyFormat("com.apple.streamingkeydelivery")
}

extension KeyFormat: Hashable, CustomStringConvertible {
    public static func == (left: Self, right: Self) -> Bool { left.text.equalsByteForByte(right.text) }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    public var description: String { text }
}
