#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyAVFoundation

    /// Titles that Axinom protects, with a token per title: one loader, whatever plays.
    @MainActor
    final class AxinomPlayback {
        let player = AVPlayer()
        private let loader: ContentKeyLoader
        private let keys: AVPlayerKeys
        private var asset: AVURLAsset?

        /// - Parameters:
        ///   - certificate: Where Axinom has the application certificate.
        ///   - license: The address of the license service.
        ///   - token: Asks the app's own server for a title's token.
        ///   - show: Shows why a key did not come; the failure names the title.
        init(
            certificate: URL, license: URL, token: @escaping @Sendable (AssetID) async throws -> String,
            show: @escaping @Sendable (KeyFailure) -> Void
        ) {
            loader = ContentKeyLoader(
                .axinom(certificate: certificate, license: license),
                credentials: .token { request in
                    guard let title = request.asset else { throw CancellationError() }
                    return try await token(title)
                })
            keys = AVPlayerKeys(loader, onFailure: show)
        }

        func play(_ title: AssetID, _ stream: URL) {
            stop()
            let asset = AVURLAsset(url: stream)
            keys.protect(asset, as: title)
            player.replaceCurrentItem(with: AVPlayerItem(asset: asset))
            player.play()
            self.asset = asset
        }

        func stop() {
            player.replaceCurrentItem(with: nil)
            if let asset { keys.release(asset) }
            asset = nil
        }
    }
#endif
