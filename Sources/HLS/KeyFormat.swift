import LatchkeyCore

/// The key system that a key tag speaks of: its KEYFORMAT.
///
/// Two are equal when they are equal byte for byte (rule 4); `String` would also take other spellings of an accent.
///
/// Source: RFC 8216 §4.3.2.4, `media.md` §7 rules 4, 12 and 14.
public struct KeyFormat: Sendable {
    /// The text as the playlist has it.
    public let text: String

    /// - Parameter text: as in a playlist.
    public init(_ text: String) { self.text = text }

    /// What a tag without KEYFORMAT means: the URI gives the 16 bytes of the key.
    public static let identity = KeyFormat("identity")
    /// FairPlay Streaming, whatever the scheme of the URI is.
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
