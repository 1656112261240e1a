public import LatchkeyCore

/// The keys of a stream, and where they were found.
public struct DiscoveredKeys: Sendable {
    /// The distinct keys in order of first appearance: session keys first, then playlist by playlist.
    public internal(set) var keys: [DiscoveredKey] = []
    /// The playlists that were read, the first one first, each once.
    public internal(set) var playlists: [ReadPlaylist] = []
    /// The playlists that could not be read. Keys may be missing when there are any.
    public internal(set) var failures: [PlaylistFailure] = []
    /// What is odd about the playlists together, each line with the playlist that it is about.
    public internal(set) var warnings: [DiscoveryWarning] = []

    /// The URIs of the FairPlay keys as the playlists state them, one for each key, in order.
    public var fairPlayURIs: [KeyURI] { keys.filter { $0.format == .fairPlay }.map(\.uri) }
}

/// A key that a stream needs: one license for each pair of KEYFORMAT and URI (rule 17).
public struct DiscoveredKey: Sendable, Hashable {
    /// The key system.
    public let format: KeyFormat
    /// The URI as the playlist states it.
    public let uri: KeyURI
    /// The URI resolved against the playlist that holds it; `skd:` and `data:` are untouched.
    public let resolvedURI: String
    /// Every tag that names the key, in order.
    public internal(set) var places: [Place]

    /// Where a key was found.
    public struct Place: Sendable, Hashable {
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
    /// The URI that was asked for.
    public let uri: String
    /// Why: the fetcher's error, a `PlaylistError` or a `KeyDiscoveryError`.
    public let error: any Error

    /// The error, and the URI without tokens.
    public var description: String { "\(Redaction.standard.redacted(urlText: uri)): \(error)" }
}

/// A warning and the playlist that it is about.
public struct DiscoveryWarning: Sendable, Hashable, CustomStringConvertible {
    /// The URI of the playlist, after redirects.
    public let playlistURI: String
    /// What is odd.
    public let warning: PlaylistWarning

    /// The warning, and the URI without tokens.
    public var description: String { "\(Redaction.standard.redacted(urlText: playlistURI)): \(warning)" }
}

/// Why discovery left a playlist unread.
public struct KeyDiscoveryError: DiagnosableError, Hashable {
    private let kind: Kind

    init(_ kind: Kind) { self.kind = kind }

    public var code: String { kind.rawValue }

    public var reason: String {
        switch kind {
        case .tooManyPlaylists: "The stream has more playlists than the limit."
        case .tooManyBytes: "The stream's playlists have more bytes together than the limit."
        case .tooDeep: "The playlists are nested deeper than the limit."
        case .schemeNotAllowed: "A playlist names another one by a scheme that its own origin does not allow."
        }
    }

    public var remedy: String {
        switch kind {
        case .tooManyPlaylists: "Raise `maximumPlaylists`, or put session keys into the multivariant playlist."
        case .tooManyBytes: "Raise `maximumBytes`, or put session keys into the multivariant playlist."
        case .tooDeep: "Let multivariant playlists name media playlists only."
        case .schemeNotAllowed: "Serve all playlists of the stream over http or https."
        }
    }

    enum Kind: String { case tooManyPlaylists, tooManyBytes, tooDeep, schemeNotAllowed }
}
