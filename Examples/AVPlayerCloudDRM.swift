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
        ///   - certificate: The address of Cloud DRM's application certificate.
        ///   - brand: The tenant, `x-drm-brandGuid`.
        ///   - userToken: Requests a token from the app's own server, `x-drm-userToken`.
        ///   - onFailure: Receives the reason that a key was not delivered.
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
