#if canImport(PSDKLibrary)
    public import Foundation
    public import LatchkeyAVFoundation
    public import PSDKLibrary

    /// Adobe TVSDK plays streams that ExpressPlay protects.
    @MainActor
    public final class TVSDKExpressPlay {
        /// The source of licenses.
        public enum UseCase: Sendable {
            /// A token URL, which the playlist contains as key URI.
            case tokenURL
            /// An entitlement server, which answers a key URI with a token URL.
            case entitlement(URL)
            /// A token URL that the app's own server provides for each key, as a list of addresses or as JSON with `url`.
            case tokenServer(URL)
            /// The customer's own license server.
            case onPremise(URL)
        }

        public private(set) var player: PTMediaPlayer?

        /// - Parameters:
        ///   - certificate: The application certificate, DER, which is part of the app.
        ///   - onFailure: Receives the reason that a key was not delivered or ended.
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
