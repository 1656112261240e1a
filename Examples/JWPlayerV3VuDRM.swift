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
        ///   - certificate: Where VuDRM has the application certificate.
        ///   - token: Asks the app's own server for a token; each license takes a new one.
        ///   - onFailure: Takes why a key did not come.
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
            // Set it before the player plays, because it asks for keys then. The player holds its data source weakly.
            player?.drmDataSource = keys
        }

        public func play() { player?.play() }
    }
#endif
