/// A part of a resource.
///
/// Source: RFC 8216 §4.3.2.2.
public struct ByteRange: Sendable, Hashable {
    /// The first byte, counted from 0.
    public let offset: Int
    /// How many bytes.
    public let length: Int
}

/// A Media Initialization Section: EXT-X-MAP.
///
/// Source: RFC 8216 §4.3.2.5.
public struct MediaMap: Sendable, Hashable {
    /// The resource, resolved.
    public let uri: String
    /// The part of the resource; nil for all of it.
    public let byteRange: ByteRange?
    /// The indexes into `Playlist.keyTags` in force where the tag stands. They can differ from its segments' (rule 5).
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
    /// The part of the resource; nil for all of it.
    public let byteRange: ByteRange?
    /// EXTINF in seconds; nil without one.
    public let duration: Double?
    /// The Media Sequence Number, which is the IV of an identity key that states none (rule 13).
    public let sequenceNumber: Int
    /// Whether EXT-X-DISCONTINUITY stands before it.
    public let followsDiscontinuity: Bool
    /// The initialization section that the segment needs; nil without one.
    public let map: MediaMap?
    /// The indexes into `Playlist.keyTags` in force; none for a clear segment.
    public let keys: [Int]
    /// The line of the URI, counted from 1.
    public let line: Int
}
