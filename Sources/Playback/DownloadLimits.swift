import LatchkeyCore

/// How much a stream may make us load.
public struct DownloadLimits: Sendable, Hashable {
    /// Bytes of one playlist; 16 MiB unless set.
    public var playlistBytes = 16 << 20
    /// Bytes of one segment or init section; 64 MiB unless set.
    public var resourceBytes = 64 << 20
    /// Bytes of all segments and init sections together; 1 GiB unless set.
    public var totalBytes = 1 << 30
    /// Segments of each track. What follows is left out, and the copy says so. 60 unless set.
    public var segments = 60
    /// Requests under way at one time, for each track; 4 unless set.
    public var concurrency = 4

    /// The defaults.
    public init() {}
}

/// Bytes that all tracks of a stream may still load, together.
final class ByteBudget: Sendable {
    private let total: Int
    private let spent = Locked(0)

    init(_ total: Int) { self.total = total }

    /// - Throws: `PlaybackError` `resourceTooLarge` when the stream has become too large.
    func spend(_ count: Int) throws {
        let sum = spent.withLock { spent in
            spent += count
            return spent
        }
        guard sum <= total else { throw PlaybackError.resourceTooLarge("The stream", limit: total) }
    }
}
