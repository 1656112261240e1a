#if canImport(AVFoundation) && canImport(Observation)
    import AVFoundation
    import LatchkeyAVFoundation

    /// Live channels with rotating keys: a main player with Picture in Picture and AirPlay, and an additional mini player.
    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    @MainActor
    final class LiveRoom {
        enum Banner: Equatable { case display, airPlay, gone(String) }

        let main: ProtectedPlayback
        let mini: ProtectedPlayback
        /// Set by the delegate of the Picture in Picture controller.
        var isPictureInPicture = false
        private let loader: ContentKeyLoader

        init(_ vendor: ConfiguredVendor, token: @escaping @Sendable (Credentials.Request) async throws -> String) {
            var configuration = LoaderConfiguration()
            // The service states no lease.
            configuration.leases.assumedLease = .seconds(600)
            loader = ContentKeyLoader(vendor, credentials: .token(token), configuration: configuration)
            main = ProtectedPlayback(loader)
            mini = ProtectedPlayback(loader)
        }

        func prepare(_ channel: Title) async -> Bool {
            let result = await loader.preload(channel.stream, into: main.keys, as: channel.id)
            return result.keys.allSatisfy { $0[.license].isPrepared }
        }

        func sceneWentToBackground() {
            guard !isPictureInPicture, !main.player.isExternalPlaybackActive else { return }
            for playback in [main, mini] { playback.keys.suspend() }
        }

        func sceneBecameActive() {
            for playback in [main, mini] {
                playback.keys.resume()
                playback.keys.renewEndedKeys()
            }
        }

        var banner: Banner? {
            if main.isOutputObscured { return .display }
            if let message = main.problem?.viewerMessage { return .gone(message.localized()) }
            if case .streamedInstead = main.notice { return .airPlay }
            return nil
        }

        /// The number of billed licenses.
        var licenses: Int { loader.statistics.licenses }
    }
#endif
