#if canImport(JWPlayerKit)
    public import Foundation
    public import JWPlayerKit
    public import LatchkeyJWPlayer

    /// JW Player 4 plays a stream that VuDRM protects.
    @MainActor
    public final class JWPlayerVuDRM {
        public let view = JWPlayerView()
        private let keys: JWPlayerKeyBridge
        private let content: URL

        /// - Parameters:
        ///   - content: the stream's master playlist.
        ///   - certificate: where VuDRM has the application certificate.
        ///   - token: asks the app's own server for a token; each license takes a new one.
        ///   - onError: hears why a key did not come.
        public init(
            content: URL, certificate: URL, configuration: LoaderConfiguration = LoaderConfiguration(),
            token: @escaping @Sendable () async throws -> String, onError: @escaping @Sendable (ContentKeyError) -> Void
        ) {
            self.content = content
            let loader = ContentKeyLoader(
                .vuDRM(certificate: certificate), credentials: .token { _ in try await token() },
                configuration: configuration)
            keys = JWPlayerKeyBridge(loader) { error, _ in onError(error) }
            view.player.contentKeyDataSource = keys
        }

        public func play() throws {
            let item = try JWPlayerItemBuilder().file(content).build()
            view.player.configurePlayer(
                with: try JWPlayerConfigurationBuilder().playlist(items: [item]).autostart(true).build())
        }
    }
#endif
