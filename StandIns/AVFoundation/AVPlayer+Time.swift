extension AVPlayer {
    /// The beginning of the stream, or its end after it was played: nothing here waits in real time.
    public nonisolated func currentTime() -> CMTime { currentItem?.playback.time ?? .zero }
}
