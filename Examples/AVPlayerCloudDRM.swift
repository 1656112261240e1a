#if canImport(AVFoundation)
    public import AVFoundation
    public import LatchkeyAVFoundation

    /// AVPlayer plays a stream that Cloud DRM protects.
    @MainActor
    public final class AVPlayerCloudDRM {
        public let player: AVPlayer
        private let keys: AVPlayerKeys

        /// - Parameters:
        ///   - video: The stream's master playlist.
        ///   - certificate: Where Cloud DRM has the application certificate.
        ///   - brand: The tenant, `x-drm-brandGuid`.
        ///   - userToken: Asks the app's own server for a token, `x-drm-userToken`.
        ///   - onFailure: Takes why a key did not come.
        public init(
            video: URL, certificate: URL, brand: String, configuration: LoaderConfiguration = LoaderConfiguration(),
            userToken: @escaping @Sendable () async throws -> String,
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            let loader = ContentKeyLoader(
                .cloudDRM(certificate: certificate, brand: brand), credentials: .token { _ in try await userToken() },
                configuration: configuration)
            keys = AVPlayerKeys(loader, onFailure: onFailure)
            let asset = AVURLAsset(url: video)
            keys.protect(asset)
            player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
        }

        public func play() { player.play() }
    }
#endif
