#if canImport(JWPlayer_iOS_SDK)
    public import Foundation
    public import JWPlayer_iOS_SDK
    public import Latchkey

    /// JW Player 3 plays a stream that VuDRM protects, in the order of VuDRM's document: the player is made before its data source.
    @MainActor
    public final class JWPlayerV3VuDRM {
        public let player: JWPlayerController?
        private let keys: JWPlayerKeys

        /// - Parameters:
        ///   - content: The stream's master playlist.
        ///   - certificate: The address of VuDRM's application certificate.
        ///   - token: Requests a token from the app's own server; each license uses a new one.
        ///   - onFailure: Receives the reason that a key was not delivered.
        public init(
            content: URL, certificate: URL, configuration: LoaderConfiguration = LoaderConfiguration(),
            token: @escaping @Sendable () async throws -> String,
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            player = JWPlayerController(config: JWConfig(contentURL: content.absoluteString))
            let loader = ContentKeyLoader(
                .vuDRM(certificate: certificate), credentials: .token { _ in try await token() },
                configuration: configuration)
            keys = JWPlayerKeys(loader, onFailure: onFailure)
            // Set it before the player plays, because it requests keys then. The player holds its data source weakly.
            player?.drmDataSource = keys
        }

        public func play() { player?.play() }
    }
#endif
