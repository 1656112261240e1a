#if canImport(AVFoundation) && canImport(Observation)
    import AVFoundation
    import LatchkeyAVFoundation
    import Observation

    /// The app of the series "Play a protected stream".
    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    @MainActor
    final class StreamingApp {
        let loader: ContentKeyLoader
        let playback: ProtectedPlayback

        /// - Parameters:
        ///   - certificate: Where the vendor publishes the application certificate.
        ///   - token: Asks the app's own server for a token; each license takes a new one.
        init(certificate: URL, token: @escaping @Sendable () async throws -> String) {
            loader = ContentKeyLoader(
                .vuDRM(certificate: certificate), credentials: .token { _ in try await token() })
            playback = ProtectedPlayback(loader)
        }

        func play(_ stream: URL, as title: AssetID) {
            playback.play(stream, as: title)
        }

        func stop() { playback.stop() }
    }

    // MARK: - A view

    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    extension StreamingApp {
        /// Shows the state of playback on a screen, also without SwiftUI: before version 26, UIKit observes it like this.
        func follow(_ show: @escaping @MainActor (AVPlayer, KeyFailure?) -> Void) {
            withObservationTracking {
                show(playback.player, playback.problem)
            } onChange: {
                Task { @MainActor [weak self] in self?.follow(show) }
            }
        }
    }

    // MARK: - Renewal

    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    extension StreamingApp {
        func enteredBackground() { playback.keys.suspend() }

        func enteredForeground() { playback.keys.resume() }

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

    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    extension StreamingApp {
        /// Gets the keys of a stream that the viewer is likely to play.
        func prepare(_ stream: URL) async {
            let result = await loader.preload(stream, into: playback.keys)
            for key in result.keys where key[.license].isPrepared { print("\(key.uri) is there.") }
        }
    }
#endif
