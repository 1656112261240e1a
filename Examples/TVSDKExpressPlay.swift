#if canImport(PSDKLibrary)
    public import Foundation
    public import LatchkeyAVFoundation
    public import PSDKLibrary

    /// Adobe TVSDK plays streams that ExpressPlay protects.
    @MainActor
    public final class TVSDKExpressPlay {
        /// Where licenses come from.
        public enum UseCase: Sendable {
            /// From a token URL, which stands in the playlist as key URI.
            case tokenURL
            /// From an entitlement server, which answers a key URI with a token URL.
            case entitlement(URL)
            /// From a token URL that a server of the app's own gives for each key, as a list of addresses or as JSON with `url`.
            case tokenServer(URL)
            /// From a license server of the customer's own.
            case onPremise(URL)
        }

        public private(set) var player: PTMediaPlayer?

        /// - Parameters:
        ///   - certificate: The application certificate, DER, which is part of the app.
        ///   - onFailure: Takes why a key did not come or ended.
        public init(
            _ useCase: UseCase, certificate: Data, configuration: LoaderConfiguration = LoaderConfiguration(),
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            let vendor: ConfiguredVendor =
                switch useCase {
                case .tokenURL: .expressPlay(certificate: certificate)
                case .entitlement(let server): .expressPlay(certificate: certificate, entitlement: server)
                case .tokenServer(let server): .expressPlay(certificate: certificate, tokenServer: server)
                case .onPremise(let server): .expressPlay(certificate: certificate, onPremise: server)
                }
            // One resource loader serves all players of the process.
            TVSDKKeys(ContentKeyLoader(vendor, configuration: configuration), onFailure: onFailure).register()
        }

        public func play(_ content: URL) {
            let item = PTMediaPlayerItem(url: content, mediaId: content.lastPathComponent, metadata: PTMetadata())
            player = PTMediaPlayer(mediaPlayerItem: item)
            player?.play()
        }
    }
#endif
