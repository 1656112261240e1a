#if canImport(AVFoundation)
    public import AVFoundation
    public import LatchkeyAVFoundation

    /// AVPlayer plays a stream as in Cloud DRM's older samples: the address of each license is the key's URI with `https`
    /// instead of `skd`.
    @MainActor
    public final class AVPlayerCloudDRMOlderSamples {
        public let player: AVPlayer
        private let keys: AVPlayerKeys

        /// - Parameters:
        ///   - video: The stream's master playlist.
        ///   - certificate: The address of Cloud DRM's application certificate.
        ///   - brand: The tenant, `x-drm-brandGuid`.
        ///   - licenseHosts: Hosts of licenses other than the certificate's. SPC and token go to no other host.
        ///   - userToken: Requests a token from the app's own server, `x-drm-userToken`.
        ///   - onFailure: Receives the reason that a key was not delivered.
        public init(
            video: URL, certificate: URL, brand: String, licenseHosts: Set<HostPolicy.Host> = [],
            configuration: LoaderConfiguration = LoaderConfiguration(),
            userToken: @escaping @Sendable () async throws -> String,
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            var configuration = configuration
            configuration.hosts.allowed.formUnion(licenseHosts)
            let loader = ContentKeyLoader(
                .cloudDRMLegacy(certificate: certificate, brand: brand),
                credentials: .token { _ in try await userToken() }, configuration: configuration)
            keys = AVPlayerKeys(loader, onFailure: onFailure)
            let asset = AVURLAsset(url: video)
            keys.protect(asset)
            player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
        }

        public func play() { player.play() }
    }
#endif
