public import Foundation
public import LatchkeyCore

/// What a playlist is.
public enum PlaylistKind: String, Sendable, Hashable, Codable {
    /// It lists segments.
    case media
    /// It lists playlists.
    case multivariant
    /// It has tags of both kinds, which no playlist may have.
    case mixed
    /// It has tags of neither kind.
    case unknown
}

/// An HLS playlist: its keys, and which of its segments each key opens.
///
/// Reading is one pass over the bytes. Segments are counted, not kept; `segments()` lists them for a player, and for
/// that the bytes are held (shared, not copied). Only valid playlists become a value: `kind` is `media` or
/// `multivariant`.
///
/// Partial segments use the keys in force at their line. In a delta update (EXT-X-SKIP) the keys in force before the
/// first listed segment may stand in the playlist's previous copy; a warning says so (rule 9).
///
/// Source: RFC 8216, draft-pantos-hls-rfc8216bis-20, `media.md` §7.
public struct Playlist: Sendable, Hashable {
    /// Whether it lists segments or playlists.
    public let kind: PlaylistKind
    /// Its EXT-X-KEY tags in order.
    public let keyTags: [KeyTag]
    /// Its EXT-X-SESSION-KEY tags in order: keys to fetch ahead, neither complete nor binding (rule 16).
    public let sessionKeyTags: [KeyTag]
    /// The number of segments.
    public let segmentCount: Int
    /// Runs of consecutive segments with the keys in force.
    public let segmentRuns: [SegmentRun]
    /// The playlists and renditions that a multivariant playlist names, in order.
    public let streams: [StreamEntry]
    /// The variables it defines, for the `imports` of its media playlists.
    public let variables: [String: String]
    /// EXT-X-MEDIA-SEQUENCE: the number of the first segment.
    public let mediaSequence: Int
    /// Whether it has EXT-X-ENDLIST, so that it will not grow.
    public let isComplete: Bool
    /// What is odd about it.
    public let warnings: [PlaylistWarning]
    /// What it was read with.
    public let context: PlaylistContext
    /// The bytes it was read from.
    let source: Data

    /// Reads a playlist.
    ///
    /// - Parameters:
    ///   - bytes: the playlist as it was loaded.
    ///   - context: where it came from, the variables it may import, the limits it has to keep.
    /// - Throws: `PlaylistError`, for whatever RFC 8216 wants a client to refuse and for a limit passed.
    /// - Complexity: linear in the bytes.
    public init(_ bytes: Data, context: PlaylistContext = PlaylistContext()) throws(PlaylistError) {
        var reader = PlaylistReader(context)
        if let refusal = reader.read(bytes) { throw refusal }
        kind = reader.kind
        keyTags = reader.keyTags
        sessionKeyTags = reader.sessionKeyTags
        segmentCount = reader.segmentCount
        segmentRuns = reader.segmentRuns
        streams = reader.streams
        variables = reader.variables.values
        mediaSequence = reader.mediaSequence
        isComplete = reader.isComplete
        warnings = reader.warnings.all
        self.context = context
        source = bytes
    }

    /// The distinct URIs of FairPlay keys in order of first appearance, session keys first; not resolved.
    public var fairPlayURIs: [KeyURI] { Self.fairPlayURIs(sessionKeyTags + keyTags) }

    static func fairPlayURIs(_ tags: [KeyTag]) -> [KeyURI] {
        var seen: Set<KeyURI> = []
        return tags.compactMap { tag in
            guard tag.isFairPlay, let uri = tag.uri, seen.insert(uri).inserted else { return nil }
            return uri
        }
    }

    /// A reference of this playlist, resolved against the playlist's URI. Absolute URIs come back untouched.
    public func resolve(_ reference: String) -> String {
        URIReference.resolve(reference, against: context.uri)
    }
}
