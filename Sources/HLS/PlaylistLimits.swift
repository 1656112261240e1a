/// How much a playlist may demand of its reader. Passing a limit is a `PlaylistError` with the code `limitExceeded`.
public struct PlaylistLimits: Sendable, Hashable {
    /// Bytes of one playlist; 64 MiB unless set (a day of two-second segments with long URLs is about 10 MB).
    public var totalBytes = 64 << 20
    /// Bytes of one line, without its line end; 1 MiB unless set.
    public var lineBytes = 1 << 20
    /// EXT-X-KEY and EXT-X-SESSION-KEY tags of one playlist, together; 100,000 unless set.
    public var keyTags = 100_000
    /// Key formats that may be in force at one time; 32 unless set.
    public var keyFormatsInForce = 32
    /// Attributes of one tag; 100 unless set.
    public var attributesPerTag = 100
    /// EXT-X-DEFINE tags of one playlist; 1,000 unless set.
    public var variables = 1_000
    /// Bytes that substituting variables may insert into one playlist; 64 MiB unless set.
    public var insertedBytes = 64 << 20
    /// EXT-X-STREAM-INF, EXT-X-I-FRAME-STREAM-INF and EXT-X-MEDIA tags of one playlist; 10,000 unless set.
    public var streams = 10_000
    /// Segments that `Playlist.segments()` lists; 1,000,000 unless set. Finding keys does not list segments.
    public var listedSegments = 1_000_000
    /// Warnings that are kept; further ones are dropped. 100 unless set.
    public var warnings = 100

    /// The defaults.
    public init() {}
}
