#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyAVFoundation

    /// The app of the series "Play a protected stream".
    @MainActor
    final class ProtectedPlayback {
        let player = AVPlayer()
        let loader: ContentKeyLoader
        let keys: AVPlayerKeys
        private var asset: AVURLAsset?

        /// - Parameters:
        ///   - certificate: Where the vendor publishes the application certificate.
        ///   - token: Asks the app's own server for a token; each license takes a new one.
        ///   - show: Shows why a key did not come.
        init(
            certificate: URL, token: @escaping @Sendable () async throws -> String,
            show: @escaping @Sendable (KeyFailure) -> Void
        ) {
            loader = ContentKeyLoader(
                .vuDRM(certificate: certificate), credentials: .token { _ in try await token() })
            keys = AVPlayerKeys(loader, onFailure: show)
        }

        /// Takes a loader that the app has already, such as one that stores keys.
        init(_ loader: ContentKeyLoader, show: @escaping @Sendable (KeyFailure) -> Void) {
            self.loader = loader
            keys = AVPlayerKeys(loader, onFailure: show)
        }

        /// Plays a stream instead of the one before, whose keys are released.
        func play(_ stream: URL) {
            stop()
            let asset = AVURLAsset(url: stream)
            keys.protect(asset)
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

    // MARK: - Renewal

    extension ProtectedPlayback {
        func enteredBackground() { loader.suspend() }

        func enteredForeground() { loader.resume() }

        func watchRenewals() async {
            for await event in loader.events() {
                switch event.kind {
                case .renewalPlanned(let after, _): print("The key is renewed in \(after).")
                case .renewalFailed(let code, let next?): print("\(code); the next attempt is in \(next).")
                case .ended(let error): print("Playback stops soon: \(error)")
                default: break
                }
            }
        }
    }

    // MARK: - Preloading

    extension ProtectedPlayback {
        /// Gets the keys of a stream that the viewer is likely to play.
        func prepare(_ stream: URL) async {
            let result = await loader.preload(stream, into: keys)
            for key in result.keys where key[.license].isPrepared { print("\(key.uri) is there.") }
        }
    }
#endif
