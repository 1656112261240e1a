#if canImport(GoogleInteractiveMediaAds)
    public import AVFoundation
    public import GoogleInteractiveMediaAds
    public import LatchkeyAVFoundation

    /// The keys of streams into which Google's server inserts the ads (dynamic ad insertion).
    ///
    /// IMA makes the asset itself, and passes it to a delegate before it loads anything: one line protects it. The same line
    /// works for every player that exposes its `AVURLAsset` before playback.
    ///
    ///     display = IMAAVPlayerVideoDisplay(avPlayer: player)
    ///     display?.playerVideoDisplayDelegate = streams
    ///
    /// Keep this object as long as the stream plays: IMA and AVFoundation hold their delegates weakly (inferred for IMA).
    /// IMA's older versions call the method `avPlayerVideoDisplay(_:willLoadStreamAsset:)`.
    ///
    /// Source: Google's reference of IMA for iOS and tvOS, page `IMAAVPlayerVideoDisplayDelegate`.
    public nonisolated final class GoogleIMADynamicAds: NSObject, IMAAVPlayerVideoDisplayDelegate {
        private let keys: AVPlayerKeys

        /// - Parameter keys: The keys of the stream's vendor.
        public init(_ keys: AVPlayerKeys) {
            self.keys = keys
            super.init()
        }

        public func playerVideoDisplay(
            _ playerVideoDisplay: IMAAVPlayerVideoDisplay, willLoadStreamAsset URLAsset: AVURLAsset
        ) {
            keys.protect(URLAsset)
        }
    }
#endif
