#if canImport(JWPlayerKit)
    public import Foundation
    public import JWPlayerKit
    public import Latchkey

    /// JW Player 4 plays a stream that VuDRM protects, with the requests of VuDRM's page for it.
    @MainActor
    public final class JWPlayerVuDRM {
        public let view = JWPlayerView()
        private let keys: JWPlayerKeys
        private let content: URL

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
            self.content = content
            let loader = ContentKeyLoader(
                .vuDRMJW4(certificate: certificate), credentials: .token { _ in try await token() },
                configuration: configuration)
            keys = JWPlayerKeys(loader, onFailure: onFailure)
            view.player.contentKeyDataSource = keys
        }

        public func play() throws {
            let item = try JWPlayerItemBuilder().file(content).build()
            view.player.configurePlayer(
                with: try JWPlayerConfigurationBuilder().playlist(items: [item]).autostart(true).build())
        }
    }
#endif
