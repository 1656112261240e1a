/// How much a preload may do. What is beyond a limit is got when it is played.
public struct PreloadLimits: Sendable, Hashable {
    /// How many keys are prepared, the stream's session keys first. Defaults to 20.
    package var keys: Int
    /// How many playlists are read, the first one included. Defaults to 20. With 1 only session keys are found.
    package var playlists: Int
    /// The largest playlist, in bytes. Defaults to 16 MiB.
    package var playlistBytes: Int
    /// How long the preload may take. Defaults to 10 s.
    package var time: Duration

    /// Makes limits.
    /// - Parameters:
    ///   - keys: how many keys are prepared, the stream's session keys first. Defaults to 20.
    ///   - playlists: how many playlists are read, the first one included. Defaults to 20. With 1 only session keys are found.
    ///   - playlistBytes: the largest playlist, in bytes. Defaults to 16 MiB.
    ///   - time: how long the preload may take. Defaults to 10 s.
    public init(
        keys: Int = 20, playlists: Int = 20, playlistBytes: Int = 16 << 20, time: Duration = .seconds(10)
    ) {
        self.keys = keys
        self.playlists = playlists
        self.playlistBytes = playlistBytes
        self.time = time
    }
}
