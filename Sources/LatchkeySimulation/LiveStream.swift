public import LatchkeyCore

/// A live stream without media: how long its segments are, and which key each of them needs.
public struct LiveStream: Sendable {
    /// A key of the stream.
    public struct Key: Sendable, Hashable {
        /// The URI that the playlist names it by.
        public var uri: KeyURI
        /// What the segments are encrypted with; `nil` accepts any key.
        public var content: ContentKey?

        /// - Parameters:
        ///   - uri: the URI that the playlist names it by.
        ///   - content: what the segments are encrypted with; `nil` accepts any key.
        public init(uri: KeyURI, content: ContentKey? = nil) {
            self.uri = uri
            self.content = content
        }
    }

    /// The tracks that play together, each with keys of its own.
    public var tracks: [String]
    /// How long a segment plays.
    public var segmentDuration: Duration
    /// For how many segments a key is used; `nil` for one key for all. Keys change between segments only.
    public var segmentsPerKey: Int?
    /// The key of a track, by how often keys changed before.
    public var key: @Sendable (_ track: String, _ period: Int) -> Key

    /// - Parameters:
    ///   - tracks: the tracks that play together, each with keys of its own.
    ///   - segmentDuration: how long a segment plays. Defaults to 6 s.
    ///   - rotation: how long a key is used, rounded to whole segments; `nil` for one key for all.
    ///   - key: the key of a track, by how often keys changed before.
    public init(
        tracks: [String] = ["audio", "video"], segmentDuration: Duration = .seconds(6), rotation: Duration? = nil,
        key: @escaping @Sendable (_ track: String, _ period: Int) -> Key
    ) {
        self.tracks = tracks
        self.segmentDuration = segmentDuration
        segmentsPerKey = rotation.map { max(1, Int(saturating: ($0 / segmentDuration).rounded())) }
        self.key = key
    }

    /// How often keys changed before a segment, counted from 0.
    public func period(ofSegment number: Int) -> Int { segmentsPerKey.map { number / max(1, $0) } ?? 0 }

    /// The keys that the playlists name when a segment is the newest but `ahead` ones.
    func keysInPlaylists(atSegment number: Int, ahead: Int) -> Set<KeyURI> {
        let window = Int(saturating: (Self.window / segmentDuration).rounded(.up))
        let periods = period(ofSegment: max(0, number - window))...period(ofSegment: number + max(0, ahead))
        return Set(periods.flatMap { keys(inPeriod: $0) }.map(\.uri))
    }

    /// How much of the past the playlists hold.
    private static let window = Duration.seconds(60)

    /// The keys of all tracks in a period.
    public func keys(inPeriod period: Int) -> [Key] { tracks.map { key($0, period) } }
}
