/// The limits for parsing one playlist. Exceeding a limit is a `PlaylistError` with the code `limitExceeded`.
public struct PlaylistLimits: Sendable, Hashable {
    /// Bytes of one playlist. Defaults to 64 MiB. (A day of two-second segments with long URLs is about 10 MB.)
    public var totalBytes = 64 << 20
    /// Bytes of one line, without its line end. Defaults to 1 MiB.
    public var lineBytes = 1 << 20
    /// EXT-X-KEY and EXT-X-SESSION-KEY tags of one playlist, together. Defaults to 100,000.
    public var keyTags = 100_000
    /// Key formats that may be in force at one time. Defaults to 32.
    public var keyFormatsInForce = 32
    /// Attributes of one tag. Defaults to 100.
    public var attributesPerTag = 100
    /// EXT-X-DEFINE tags of one playlist. Defaults to 1,000.
    public var variables = 1_000
    /// Bytes that variable substitution may insert into one playlist. Defaults to 8 MiB.
    public var insertedBytes = 8 << 20
    /// Keys in force, summed over the runs of one playlist. Defaults to 1,000,000 (100,000 runs with ten key systems).
    public var keysOfRuns = 1_000_000
    /// EXT-X-STREAM-INF, EXT-X-I-FRAME-STREAM-INF and EXT-X-MEDIA tags of one playlist. Defaults to 10,000.
    public var streams = 10_000
    /// Segments that `Playlist.segments()` lists. Defaults to 1,000,000. Finding keys does not list segments.
    public var listedSegments = 1_000_000
    /// Warnings that are kept; further ones are dropped. Defaults to 100.
    public var warnings = 100

    /// The defaults.
    public init() {}
}
