#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyAVFoundation

    /// What the app's catalogue says about a title.
    struct Title: Sendable {
        let id: AssetID
        let stream: URL
    }

    /// Plays one title after the other, for a vendor whose tokens are for one title each: Axinom.
    @MainActor
    final class TitlePlayback {
        let player = AVPlayer()
        private let loader: ContentKeyLoader
        private let keys: AVPlayerKeys
        private var asset: AVURLAsset?

        /// - Parameters:
        ///   - certificate: Where the vendor publishes the application certificate.
        ///   - license: The license service.
        ///   - token: Asks the app's own server for the token of a title.
        ///   - hide: Takes a title off the page, with why it does not play.
        init(
            certificate: URL, license: URL, token: @escaping @Sendable (AssetID) async throws -> String,
            hide: @escaping @Sendable (AssetID, KeyFailure) -> Void
        ) {
            let credentials = Credentials.token { request in
                guard let title = request.asset else { throw CancellationError() }
                return try await token(title)
            }
            loader = ContentKeyLoader(.axinom(certificate: certificate, license: license), credentials: credentials)
            keys = AVPlayerKeys(loader) { failure in
                if let title = failure.asset { hide(title, failure) }
            }
        }

        func play(_ title: Title) {
            let (last, next) = (asset, AVURLAsset(url: title.stream))
            keys.protect(next, as: title.id)
            player.replaceCurrentItem(with: AVPlayerItem(asset: next))
            player.play()
            asset = next
            if let last { keys.release(last) }
        }

        /// Gets the keys of the title that is likely to come next.
        func prepare(_ title: Title) async {
            _ = await loader.preload(title.stream, into: keys, as: title.id)
        }

        /// Has the service asked again at once for what it refused before.
        func viewerBought(_ title: Title) {
            loader.forgetRefusals(of: title.id)
        }
    }
#endif
