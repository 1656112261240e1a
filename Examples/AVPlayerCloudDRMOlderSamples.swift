#if canImport(AVFoundation)
    public import AVFoundation
    public import LatchkeyAVFoundation

    /// AVPlayer plays a stream as Cloud DRM's older samples do: the address of each license is the key's URI with `https` in place of
    /// `skd`.
    @MainActor
    public final class AVPlayerCloudDRMOlderSamples {
        public let player: AVPlayer
        private let keys: AVPlayerKeys

        /// - Parameters:
        ///   - video: The stream's master playlist.
        ///   - certificate: Where Cloud DRM has the application certificate.
        ///   - brand: The tenant, `x-drm-brandGuid`.
        ///   - licenseHosts: Hosts of licenses other than the certificate's. SPC and token go to no other host.
        ///   - userToken: Asks the app's own server for a token, `x-drm-userToken`.
        ///   - onFailure: Takes why a key did not come.
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
