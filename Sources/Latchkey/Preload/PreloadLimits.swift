/// How much a preload may do. Anything beyond a limit is fetched when it is played.
public struct PreloadLimits: Sendable, Hashable {
    /// How many keys are prepared, the stream's session keys first. Defaults to 20.
    public var keys: Int
    /// How many playlists are read, the first one included. Defaults to 20. With 1 only session keys are found.
    public var playlists: Int
    /// The largest playlist, in bytes. Defaults to 16 MiB.
    public var playlistBytes: Int
    /// How long the preload may take. Defaults to 10 s.
    public var time: Duration

    /// Makes limits. Each parameter is the property of its name.
    public init(
        keys: Int = 20, playlists: Int = 20, playlistBytes: Int = 16 << 20, time: Duration = .seconds(10)
    ) {
        self.keys = keys
        self.playlists = playlists
        self.playlistBytes = playlistBytes
        self.time = time
    }
}
