public import LatchkeyCore

/// The keys of a stream, and where they were found.
public struct DiscoveredKeys: Sendable {
    /// The distinct keys in order of first appearance: session keys first, then playlist by playlist.
    public internal(set) var keys: [DiscoveredKey] = []
    /// The keys that live playlists announce as next, in order of first appearance, without those already in use.
    public internal(set) var hintedKeys: [KeyHint] = []
    /// The playlists that were read, each once, in order of discovery.
    public internal(set) var playlists: [ReadPlaylist] = []
    /// The playlists that could not be read. If there are any, keys may be missing.
    public internal(set) var failures: [PlaylistFailure] = []
    /// Warnings about the playlists, with the playlist's URI.
    public internal(set) var warnings: [DiscoveryWarning] = []

    /// The URIs of the FairPlay keys as the playlists state them, one for each key, in order.
    public var fairPlayURIs: [KeyURI] { keys.filter { $0.format == .fairPlay }.map(\.uri) }

    /// The keys named only by EXT-X-SESSION-KEY, which open nothing. Empty unless every playlist was read.
    public var unusedSessionKeys: [DiscoveredKey] {
        isWhole ? keys.filter { $0.places.allSatisfy(\.isSessionKey) } : []
    }

    /// The keys of media playlists that no EXT-X-SESSION-KEY names, for key systems that have session keys. An app that stores
    /// or preloads by session keys misses them.
    public var keysWithoutSessionKey: [DiscoveredKey] {
        let formats = Set(keys.filter { $0.places.contains(where: \.isSessionKey) }.map(\.format))
        return keys.filter { formats.contains($0.format) && !$0.places.contains(where: \.isSessionKey) }
    }

    /// Whether all media playlists were read.
    private var isWhole: Bool { failures.isEmpty && playlists.contains { $0.playlist.kind == .media } }
}

/// A key that a stream needs: one license for each pair of KEYFORMAT and URI (HLS.md rule 17).
public struct DiscoveredKey: Sendable, Hashable {
    /// The key system.
    public let format: KeyFormat
    /// The URI as the playlist states it.
    public let uri: KeyURI
    /// The URI resolved against the playlist that holds it; `skd:` and `data:` are untouched.
    public let resolvedURI: String
    /// Every tag that names the key, in order.
    public internal(set) var places: [Occurrence]

    /// Where a key was found.
    public struct Occurrence: Sendable, Hashable {
        /// The URI of the playlist, after redirects.
        public let playlistURI: String
        /// The tag.
        public let tag: KeyTag
        /// Whether the tag is EXT-X-SESSION-KEY.
        public let isSessionKey: Bool
    }
}

/// A playlist that discovery has read.
public struct ReadPlaylist: Sendable {
    /// The URI that led to it.
    public let requestedURI: String
    /// The playlist; `context.uri` is its URI after redirects.
    public let playlist: Playlist
}

/// A playlist that discovery could not read.
public struct PlaylistFailure: Sendable, CustomStringConvertible {
    /// The requested URI.
    public let uri: String
    /// The fetcher's error, a `PlaylistError`, or a `Diagnosis` of a limit.
    public let error: any Error

    /// The error, with the URI redacted.
    public var description: String { "\(Redaction.standard.redacted(urlText: uri)): \(error)" }
}

/// A warning about one playlist.
public struct DiscoveryWarning: Sendable, Hashable, CustomStringConvertible {
    /// The URI of the playlist, after redirects.
    public let playlistURI: String
    /// The oddity.
    public let warning: PlaylistWarning

    /// The warning, with the URI redacted.
    public var description: String { "\(Redaction.standard.redacted(urlText: playlistURI)): \(warning)" }
}

/// The reasons that discovery did not read a playlist.
extension Diagnosis {
    static let tooManyPlaylists = Self(
        code: "tooManyPlaylists", reason: "The stream has more playlists than the limit.",
        remedy: "Raise `PreloadLimits.playlists`, or put session keys into the multivariant playlist.")
    static let tooManyBytes = Self(
        code: "tooManyBytes", reason: "The stream's playlists have more bytes together than the limit.",
        remedy: "Put session keys into the multivariant playlist.")
    static let tooDeep = Self(
        code: "tooDeep", reason: "The playlists are nested deeper than the limit.",
        remedy: "Let multivariant playlists name media playlists only.")
    static let schemeNotAllowed = Self(
        code: "schemeNotAllowed",
        reason: "A playlist names another one by a scheme that its own origin does not allow.",
        remedy: "Serve all playlists of the stream over http or https.")
}
