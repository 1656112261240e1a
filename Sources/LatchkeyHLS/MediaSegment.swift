/// A part of a resource: EXT-X-BYTERANGE.
///
/// Source: RFC 8216 §4.3.2.2.
public struct ByteRange: Sendable, Hashable {
    /// The first byte, counted from 0.
    public let offset: Int
    /// The number of bytes.
    public let length: Int
}

/// A Media Initialization Section: EXT-X-MAP.
///
/// Source: RFC 8216 §4.3.2.5.
public struct MediaMap: Sendable, Hashable {
    /// The resource, resolved.
    public let uri: String
    /// The part of the resource; `nil` means all of it.
    public let byteRange: ByteRange?
    /// The indexes into `Playlist.keyTags` in force at the tag. They can differ from the keys of its segments (HLS.md rule 5).
    public let keys: [Int]
    /// The line of the tag, counted from 1.
    public let line: Int
}

/// A Media Segment.
///
/// Source: RFC 8216 §3 and §4.3.2.
public struct MediaSegment: Sendable, Hashable {
    /// The resource, resolved.
    public let uri: String
    /// The part of the resource; `nil` means all of it.
    public let byteRange: ByteRange?
    /// EXTINF in seconds; `nil` if absent.
    public let duration: Double?
    /// The Media Sequence Number. It is the IV of an identity key without one (HLS.md rule 13).
    public let sequenceNumber: Int
    /// Whether EXT-X-DISCONTINUITY precedes the segment.
    public let followsDiscontinuity: Bool
    /// The initialization section that the segment needs; `nil` if absent.
    public let map: MediaMap?
    /// The indexes into `Playlist.keyTags` in force; empty for a clear segment.
    public let keys: [Int]
    /// The line of the URI, counted from 1.
    public let line: Int
}
