#if canImport(THEOplayerSDK)
    public import Foundation
    public import Latchkey
    public import THEOplayerSDK

    /// THEOplayer plays streams of the vendors of its custom integrations.
    @MainActor
    public final class THEOplayerCustomIntegrations {
        public let player = THEOplayer()

        /// Registers the integrations under the names of THEOplayer's samples. A source names one of them, and its
        /// configuration has the vendor's settings.
        /// - Parameter onFailure: Receives the reason that a key was not delivered.
        public init(
            configuration: LoaderConfiguration = LoaderConfiguration(),
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            let vendors: [String: VendorProfile] = [
                "customVuDRM": .vuDRMTheo, "customAzureDRM": .azure, "customUplynkDRM": .uplynk,
                "EzdrmDRMIntegration": .ezdrmComplete, "verimatrix": .verimatrixQuery, "customkeyosDRM": .keyOSiOS,
            ]
            for (name, vendor) in vendors {
                THEOplayerKeys(vendor, configuration: configuration, onFailure: onFailure).register(as: name)
            }
            // A source without a token describes account and device.
            THEOplayerKeys(.titaniumTheo, or: .titaniumDevice, configuration: configuration, onFailure: onFailure)
                .register(as: "titanium")
        }

        /// - Parameters:
        ///   - content: The stream's master playlist.
        ///   - integration: One of the above.
        ///   - certificate: The address of the vendor's application certificate.
        ///   - license: The address of the vendor's license service. The key URIs of VuDRM, Azure and Uplynk name it.
        ///   - parameters: The vendor's other settings, named as in the sample: `token` for VuDRM and Azure, `authorization`
        ///     for Verimatrix, `x-keyos-authorization` for KeyOS, `authToken` for Titanium.
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
