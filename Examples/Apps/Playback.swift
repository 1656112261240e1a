#if canImport(AVFoundation) && canImport(Observation)
    import AVFoundation
    import LatchkeyAVFoundation
    import Observation

    /// What a view shows: a player, or why it does not play.
    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    @Observable @MainActor final class Playback {
        enum Problem: Sendable {
            case signIn, subscribe, tooManyStreams, message(String)
        }

        let player = AVPlayer()
        private(set) var problem: Problem?
        @ObservationIgnored private var keys: AVPlayerKeys?
        @ObservationIgnored private var asset: AVURLAsset?

        init(_ loader: ContentKeyLoader) {
            keys = AVPlayerKeys(
                loader,
                onNotice: { [weak self] notice in
                    guard case .stuck = notice else { return }
                    Task { @MainActor [weak self] in self?.startOver() }
                },
                onFailure: { [weak self] failure in
                    Task { @MainActor [weak self] in self?.problem = Problem(failure) }
                })
        }

        func play(_ stream: URL) {
            stop()
            let asset = AVURLAsset(url: stream)
            keys?.protect(asset)
            player.replaceCurrentItem(with: AVPlayerItem(asset: asset))
            player.play()
            self.asset = asset
        }

        /// Call it when the view disappears: the keys of an asset are renewed until it is released.
        func stop() {
            player.replaceCurrentItem(with: nil)
            if let asset { keys?.release(asset) }
            (asset, problem) = (nil, nil)
        }

        private func startOver() {
            guard let stream = asset?.url else { return }
            keys?.replaceSession()
            play(stream)
        }
    }

    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    extension Playback.Problem {
        /// - Returns: `nil` if there is nothing to show.
        init?(_ failure: KeyFailure) {
            guard let error = failure.loaderError else {
                self = .message(failure.explanation?.description ?? failure.error.localizedDescription)
                return
            }
            switch error.kind {
            case .unauthenticated: self = .signIn
            case .forbidden, .regionDenied: self = .subscribe
            case .concurrencyLimit: self = .tooManyStreams
            default:
                guard let message = error.viewerMessage else { return nil }
                self = .message(message.localized())
            }
        }
    }

    #if canImport(SwiftUI)
        import AVKit
        import SwiftUI

        @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
        struct PlaybackView: View {
            let playback: Playback
            let stream: URL

            var body: some View {
                VideoPlayer(player: playback.player)
                    .onAppear { playback.play(stream) }
                    .onDisappear { playback.stop() }
            }
        }
    #endif
#endif
