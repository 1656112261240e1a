public import Foundation
public import LatchkeyCore

/// The kind of a playlist.
public enum PlaylistKind: String, Sendable, Hashable, Codable {
    /// It lists segments.
    case media
    /// It lists playlists.
    case multivariant
    /// It has tags of both kinds, which is invalid.
    case mixed
    /// It has tags of neither kind.
    case unknown
}

/// An HLS playlist: its keys, and the segments that each key opens.
///
///     bytes ──PlaylistReader──▶ valid: Playlist ──KeyDiscovery──▶ the keys to request
///                               refused: PlaylistError, PlaylistReport
///
/// Only a valid playlist becomes a value, so `kind` is `media` or `multivariant`. Two rules matter most. The key tags in force
/// are alternatives for one content key, one per KEYFORMAT; a tag replaces only the tag with the same KEYFORMAT. And key URIs are
/// passed on byte for byte: no step may normalize or decode them, or put them into an error.
///
/// Parsing is one pass over the bytes. It counts segments but does not keep them; `segments()` lists them for a player, so the
/// value holds the bytes (shared, not copied).
///
/// A partial segment uses the keys in force at its line; those after the last segment use `keysAtEnd`. In a delta update
/// (EXT-X-SKIP), the keys of the skipped segments and the key in force after them come from `context.earlierCopy`. Without it,
/// a warning says that they are missing (HLS.md rule 9).
///
/// Source: RFC 8216, draft-pantos-hls-rfc8216bis-20, `Documentation/HLS.md` §7.
public struct Playlist: Sendable, Hashable {
    /// Whether it lists segments or playlists.
    public let kind: PlaylistKind
    /// Its EXT-X-KEY tags in order. The tags of skipped segments come first, with the line of EXT-X-SKIP.
    public let keyTags: [KeyTag]
    /// Its EXT-X-SESSION-KEY tags in order: hints for preloading, neither complete nor binding (HLS.md rule 16).
    public let sessionKeyTags: [KeyTag]
    /// The next key, if a live playlist announces it.
    public let hintedKey: KeyHint?
    /// The number of segments.
    public let segmentCount: Int
    /// Runs of consecutive segments with the keys in force.
    public let segmentRuns: [SegmentRun]
    /// The indexes into `keyTags` in force after the last segment: the keys of the partial segments (EXT-X-PART) there.
    public let keysAtEnd: [Int]
    /// The number of segments that a delta update leaves out: SKIPPED-SEGMENTS.
    public let skippedSegments: Int
    /// The interstitials that it names, in order.
    public let interstitials: [Interstitial]
    /// The playlists and renditions that a multivariant playlist names, in order.
    public let streams: [StreamEntry]
    /// The variables it defines, for the `imports` of its media playlists.
    public let variables: [String: String]
    /// EXT-X-MEDIA-SEQUENCE: the number of the first segment.
    public let mediaSequence: Int
    /// Whether it has EXT-X-ENDLIST, which means that it is final.
    public let isComplete: Bool
    /// Whether its segments are single pictures (EXT-X-I-FRAMES-ONLY).
    public let hasOnlyIFrames: Bool
    /// Oddities that did not prevent parsing.
    public let warnings: [PlaylistWarning]
    /// The context that it was parsed with.
    public let context: PlaylistContext
    /// The initial pathway of content steering; `nil` if absent.
    let firstPathway: String?
    /// The keys inherited from the previous copy.
    let inherited: InheritedKeys
    /// The bytes that it was parsed from.
    let source: Data

    /// Parses a playlist.
    ///
    /// - Parameters:
    ///   - bytes: the playlist as loaded.
    ///   - context: its URI, the variables that it may import, and its limits.
    /// - Throws: a `PlaylistError` for everything that RFC 8216 requires a client to refuse, and for an exceeded limit.
    /// - Complexity: linear in the number of bytes.
    public init(_ bytes: Data, context: PlaylistContext = PlaylistContext()) throws(PlaylistError) {
        var reader = PlaylistReader(context)
        if let refusal = reader.read(bytes) { throw refusal }
        kind = reader.kind
        keyTags = reader.keyTags
        sessionKeyTags = reader.sessionKeyTags
        hintedKey = reader.hintedKey
        segmentCount = reader.segmentCount
        segmentRuns = reader.segmentRuns
        keysAtEnd = reader.keysAtEnd
        skippedSegments = reader.skippedSegments
        interstitials = reader.interstitials
        inherited = reader.inherited
        streams = reader.streams
        firstPathway = reader.firstPathway
        variables = reader.variables.values
        mediaSequence = reader.mediaSequence
        isComplete = reader.isComplete
        hasOnlyIFrames = reader.hasOnlyIFrames
        warnings = reader.warnings.all
        self.context = context
        source = bytes
    }

    /// The distinct URIs of FairPlay keys in order of first appearance, session keys first; not resolved. Excludes tags that
    /// open nothing.
    public var fairPlayURIs: [KeyURI] { Self.fairPlayURIs(sessionKeyTags + openingKeyTags) }

    /// The key tags that open a segment or may open the next one. Excludes tags that another tag of their KEYFORMAT replaces
    /// before a segment (HLS.md rule 5).
    package var openingKeyTags: [KeyTag] {
        let used = Set(segmentRuns.flatMap(\.keys)).union(keysAtEnd)
        var later: Set<KeyFormat> = []
        let found = keyTags.indices.reversed().filter { index in
            defer { if keyTags[index].method != .none { later.insert(keyTags[index].format) } }
            return index < inherited.tagCount || used.contains(index) || !later.contains(keyTags[index].format)
        }
        return found.reversed().map { keyTags[$0] }
    }

    static func fairPlayURIs(_ tags: [KeyTag]) -> [KeyURI] {
        var seen: Set<KeyURI> = []
        return tags.compactMap { tag in
            guard tag.isFairPlay, let uri = tag.uri, seen.insert(uri).inserted else { return nil }
            return uri
        }
    }

    /// Resolves a reference in this playlist against its URI. Returns absolute URIs unchanged.
    public func resolve(_ reference: String) -> String {
        URIReference.resolve(reference, against: context.uri)
    }
}
