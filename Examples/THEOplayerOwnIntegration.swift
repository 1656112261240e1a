#if canImport(THEOplayerSDK)
    public import Foundation
    @_spi(Integrations) public import Latchkey
    public import THEOplayerSDK

    /// THEOplayer plays a stream of a vendor unknown to Latchkey: the integration is the app's own code.
    @MainActor
    public final class THEOplayerOwnIntegration {
        public let player = THEOplayer()

        /// Registers the integration for the sources that name it.
        /// - Parameter onFailure: Receives the reason that a key was not delivered.
        public init(
            configuration: LoaderConfiguration = LoaderConfiguration(),
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            // One loader for each source, with the settings of the source's configuration.
            THEOplayerKeys(onFailure: onFailure) { source in
                ContentKeyLoader(try AcmeKeys(source.parameters), configuration: configuration)
            }
            .register(as: AcmeKeys.integrationID)
        }

        /// - Parameters:
        ///   - content: The stream's master playlist.
        ///   - license: The address of the vendor's license service.
        ///   - certificate: The address of the application certificate.
        ///   - token: The viewer's token.
        public func play(_ content: URL, license: URL, certificate: URL, token: String) {
            player.source = SourceDescription(
                source: TypedSource(
                    src: content.absoluteString, type: "application/x-mpegurl",
                    drm: FairPlayDRMConfiguration(
                        customIntegrationId: AcmeKeys.integrationID, licenseAcquisitionURL: license.absoluteString,
                        certificateURL: certificate.absoluteString, integrationParameters: ["token": token])))
            player.play()
        }
    }
#endif
