import LatchkeyCore

/// The limits for downloading a stream.
public struct DownloadLimits: Sendable, Hashable {
    /// Bytes of one playlist. Defaults to 16 MiB.
    public var playlistBytes = 16 << 20
    /// Bytes of one segment or init section. Defaults to 64 MiB.
    public var resourceBytes = 64 << 20
    /// Bytes of all segments and init sections together. Defaults to 1 GiB.
    public var totalBytes = 1 << 30
    /// Segments of each track. Defaults to 60. Further segments are left out, and the copy says so.
    public var segments = 60
    /// Concurrent requests for each track. Defaults to 4.
    public var concurrency = 4

    /// The defaults.
    public init() {}
}

/// The number of bytes that all tracks of a stream together may still load.
final class ByteBudget: Sendable {
    private let total: Int
    private let spent = Locked(0)

    init(_ total: Int) { self.total = total }

    /// - Throws: `Diagnosis` `resourceTooLarge` if the stream exceeds the limit.
    func spend(_ count: Int) throws {
        let sum = spent.withLock { spent in
            spent += count
            return spent
        }
        guard sum <= total else { throw Diagnosis.resourceTooLarge("The stream", limit: total) }
    }
}
