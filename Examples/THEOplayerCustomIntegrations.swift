#if canImport(THEOplayerSDK)
    public import Foundation
    public import LatchkeyTHEOplayer
    public import THEOplayerSDK

    /// THEOplayer plays streams of the vendors of its custom integrations.
    @MainActor
    public final class THEOplayerCustomIntegrations {
        public let player = THEOplayer()

        /// Registers the integrations; a source names one, and says in its configuration what the vendor has to be told.
        public init(configuration: LoaderConfiguration = LoaderConfiguration()) {
            THEOplayer.registerKeys(of: .vuDRMTheo, as: "vudrm", configuration: configuration)
            THEOplayer.registerKeys(of: .azure, configuration: configuration)
            THEOplayer.registerKeys(of: .uplynk, configuration: configuration)
            THEOplayer.registerKeys(of: .ezdrm, configuration: configuration)
            THEOplayer.registerKeys(of: .verimatrix, configuration: configuration)
            THEOplayer.registerKeys(of: .titanium, configuration: configuration)
        }

        /// - Parameters:
        ///   - content: the stream's master playlist.
        ///   - integration: one of the above.
        ///   - certificate: where the vendor has the application certificate.
        ///   - parameters: what else the vendor has to be told, `token` among them.
        public func play(_ content: URL, with integration: String, certificate: URL, parameters: [String: String]) {
            player.source = SourceDescription(
                source: TypedSource(
                    src: content.absoluteString, type: "application/x-mpegurl",
                    drm: FairPlayDRMConfiguration(
                        customIntegrationId: integration, certificateURL: certificate.absoluteString,
                        integrationParameters: parameters)))
            player.play()
        }
    }
#endif
