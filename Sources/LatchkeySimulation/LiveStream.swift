public import LatchkeyCore

/// A live stream without media: the duration of its segments, and the key of each.
public struct LiveStream: Sendable {
    /// A key of the stream.
    public struct Key: Sendable, Hashable {
        /// Its URI in the playlist.
        public var uri: KeyURI
        /// The content key of the segments; `nil` accepts any key.
        public var content: ContentKey?

        /// - Parameters:
        ///   - uri: its URI in the playlist.
        ///   - content: the content key of the segments; `nil` accepts any key.
        public init(uri: KeyURI, content: ContentKey? = nil) {
            self.uri = uri
            self.content = content
        }
    }

    /// The tracks that play together, each with its own keys.
    public var tracks: [String]
    /// The duration of a segment.
    public var segmentDuration: Duration
    /// The number of segments per key; `nil` for one key for all. Keys change between segments only.
    public var segmentsPerKey: Int?
    /// The key of a track, by the number of key changes before it.
    public var key: @Sendable (_ track: String, _ period: Int) -> Key

    /// - Parameters:
    ///   - tracks: the tracks that play together, each with its own keys.
    ///   - segmentDuration: the duration of a segment. Defaults to 6 s.
    ///   - rotation: the time for which a key is used, rounded to whole segments; `nil` for one key for all.
    ///   - key: the key of a track, by the number of key changes before it.
    public init(
        tracks: [String] = ["audio", "video"], segmentDuration: Duration = .seconds(6), rotation: Duration? = nil,
        key: @escaping @Sendable (_ track: String, _ period: Int) -> Key
    ) {
        self.tracks = tracks
        self.segmentDuration = segmentDuration
        segmentsPerKey = rotation.map { max(1, Int(saturating: ($0 / segmentDuration).rounded())) }
        self.key = key
    }

    /// The number of key changes before a segment, counted from 0.
    public func period(ofSegment number: Int) -> Int { segmentsPerKey.map { number / max(1, $0) } ?? 0 }

    /// The keys that the playlists name while a segment plays and `ahead` more segments are listed after it.
    func keysInPlaylists(atSegment number: Int, ahead: Int) -> Set<KeyURI> {
        let window = Int(saturating: (Self.window / segmentDuration).rounded(.up))
        let periods = period(ofSegment: max(0, number - window))...period(ofSegment: number + max(0, ahead))
        return Set(periods.flatMap { keys(inPeriod: $0) }.map(\.uri))
    }

    /// The length of the playlists' window.
    private static let window = Duration.seconds(60)

    /// The keys of all tracks in a period.
    public func keys(inPeriod period: Int) -> [Key] { tracks.map { key($0, period) } }
}
