#if canImport(OPYSDKFPS)
    public import Foundation
    public import Latchkey
    public import OPYSDKFPS

    /// NAGRA CONNECT plays a stream with NAGRA's own sessions and licenses: `nagra-ssp`.
    @MainActor
    public final class ConnectSSP {
        public private(set) var player: OTVAVPlayer?
        private let keys: OpenTVKeys

        /// - Parameters:
        ///   - certificate: The address of the application certificate.
        ///   - license: The address of the content license service.
        ///   - sessions: The address of secure session management. The loader opens the session before the first license,
        ///     keeps it alive, and ends it with the last key. `nil` only if no content token has `sessionControlEnabled`; the
        ///     service refuses such a token with code 4001.
        ///   - contentToken: Provides the content token of the playing title.
        ///   - onFailure: Receives the reason that a key was not delivered or ended.
        public init(
            certificate: URL, license: URL, sessions: URL?, configuration: LoaderConfiguration = LoaderConfiguration(),
            contentToken: @escaping @Sendable () async throws -> String,
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            OTVSDK.load()
            let loader = ContentKeyLoader(
                .nagra(certificate: certificate, license: license, session: sessions),
                credentials: .token { _ in try await contentToken() }, configuration: configuration)
            keys = OpenTVKeys(loader, onFailure: onFailure)
        }

        public func play(_ content: URL) {
            OTVDRMManager.shared.setLicenseDelegate(keys)
            player = OTVAVPlayer(url: content)
            player?.play()
        }

        public func stop() {
            player = nil
            keys.release()
        }
    }
#endif
