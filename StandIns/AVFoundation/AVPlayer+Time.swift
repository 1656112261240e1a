extension AVPlayer {
    /// The beginning of the stream, and its end once it was played: nothing here waits in real time.
    public nonisolated func currentTime() -> CMTime { currentItem?.playback.time ?? .zero }
}
