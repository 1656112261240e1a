#if canImport(THEOplayerSDK)
    public import Foundation
    public import Latchkey
    public import THEOplayerSDK

    /// THEOplayer plays streams of the vendors of its custom integrations.
    @MainActor
    public final class THEOplayerCustomIntegrations {
        public let player = THEOplayer()

        /// Registers the integrations. A source names one of them, and its configuration has the vendor's settings.
        /// - Parameter onFailure: Takes why a key did not come.
        public init(
            configuration: LoaderConfiguration = LoaderConfiguration(),
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            let vendors: [String: VendorProfile] = [
                "vudrm": .vuDRMTheo, "azure": .azure, "uplynk": .uplynk, "ezdrm": .ezdrm, "verimatrix": .verimatrix,
                "titanium": .titanium,
            ]
            for (name, vendor) in vendors {
                THEOplayerKeys(vendor, configuration: configuration, onFailure: onFailure).register(as: name)
            }
        }

        /// - Parameters:
        ///   - content: The stream's master playlist.
        ///   - integration: One of the above.
        ///   - certificate: Where the vendor has the application certificate.
        ///   - license: Where the vendor has the license service. Azure, Verimatrix and Titanium need it; the key URIs of the others name it.
        ///   - parameters: The vendor's other settings, such as `token`.
        public func play(
            _ content: URL, with integration: String, certificate: URL, license: URL? = nil,
            parameters: [String: String]
        ) {
            player.source = SourceDescription(
                source: TypedSource(
                    src: content.absoluteString, type: "application/x-mpegurl",
                    drm: FairPlayDRMConfiguration(
                        customIntegrationId: integration, licenseAcquisitionURL: license?.absoluteString,
                        certificateURL: certificate.absoluteString, integrationParameters: parameters)))
            player.play()
        }
    }
#endif
