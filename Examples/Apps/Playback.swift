// Views of `ProtectedPlayback`.
#if canImport(AVKit) && canImport(SwiftUI)
    import AVKit
    import LatchkeyAVFoundation
    import SwiftUI

    /// A title in SwiftUI.
    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    struct PlaybackView: View {
        let playback: ProtectedPlayback
        let stream: URL
        let title: AssetID

        var body: some View {
            VideoPlayer(player: playback.player)
                .overlay {
                    if playback.isOutputObscured {
                        Text("This display cannot show the film. Disconnect it, or watch on this device.")
                    } else if let message = playback.problem?.viewerMessage {
                        VStack {
                            Text(message.localized())
                            Button("Try again") { playback.tryAgain() }
                        }
                    }
                }
                .onAppear { playback.play(stream, as: title) }
                .onDisappear { playback.stop() }
        }
    }
#endif

#if canImport(AVKit) && canImport(UIKit) && !os(watchOS)
    import AVKit
    import LatchkeyAVFoundation
    import UIKit

    /// A title in UIKit. Views and view controllers of version 26 observe the properties that `updateProperties()` reads.
    @available(iOS 26, tvOS 26, visionOS 26, *)
    final class PlaybackController: AVPlayerViewController {
        var playback: ProtectedPlayback?

        override func updateProperties() {
            super.updateProperties()
            player = playback?.player
            guard let message = playback?.problem?.viewerMessage, presentedViewController == nil else { return }
            present(UIAlertController(title: nil, message: message.localized(), preferredStyle: .alert), animated: true)
        }
    }
#endif
