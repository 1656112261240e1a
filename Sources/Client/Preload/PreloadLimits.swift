/// How much a preload may do. What is beyond a limit is got when it is played.
public struct PreloadLimits: Sendable, Hashable {
    /// How many keys are prepared, the stream's session keys first; 20 unless given.
    public var keys: Int
    /// How many playlists are read, the first one included; 20 unless given. With 1 only session keys are found.
    public var playlists: Int
    /// The largest playlist, in bytes; 16 MiB unless given.
    public var playlistBytes: Int
    /// How long the preload may take; 10 s unless given.
    public var time: Duration

    /// Makes limits.
    public init(
        keys: Int = 20, playlists: Int = 20, playlistBytes: Int = 16 << 20, time: Duration = .seconds(10)
    ) {
        self.keys = keys
        self.playlists = playlists
        self.playlistBytes = playlistBytes
        self.time = time
    }
}
