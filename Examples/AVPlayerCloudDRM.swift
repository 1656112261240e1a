#if canImport(AVFoundation)
    public import AVFoundation
    public import LatchkeyAVFoundation

    /// AVPlayer plays a stream that Cloud DRM protects.
    @MainActor
    public final class AVPlayerCloudDRM {
        public let player: AVPlayer
        private let keys: ContentKeySessionBridge

        /// - Parameters:
        ///   - video: the stream's master playlist.
        ///   - certificate: where Cloud DRM has the application certificate.
        ///   - brand: the tenant, `x-drm-brandGuid`.
        ///   - userToken: asks the app's own server for a token, `x-drm-userToken`.
        ///   - onError: hears why a key did not come.
        public init(
            video: URL, certificate: URL, brand: String, configuration: LoaderConfiguration = LoaderConfiguration(),
            userToken: @escaping @Sendable () async throws -> String, onError: @escaping @Sendable (NSError) -> Void
        ) {
            let loader = ContentKeyLoader(
                .cloudDRM(certificate: certificate, brand: brand), credentials: .token { _ in try await userToken() },
                configuration: configuration)
            keys = ContentKeySessionBridge(loader) { notice in
                if case .failed(let failure) = notice { onError(failure.error) }
            }
            let asset = AVURLAsset(url: video)
            keys.protect(asset)
            player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
        }

        public func play() { player.play() }
    }
#endif
