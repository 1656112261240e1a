#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyAVFoundation

    /// A player with its keys before iOS 17, or for an app with its own player.
    @MainActor
    final class PlayerOfYourOwn {
        let player = AVPlayer()
        let keys: AVPlayerKeys
        private var asset: AVURLAsset?

        init(_ loader: ContentKeyLoader) { keys = AVPlayerKeys(loader) }

        /// Plays a stream instead of the previous one, whose keys are released.
        func play(_ stream: URL) {
            player.replaceCurrentItem(with: nil)
            // Before the next asset is protected, which takes over the keys if it is the same stream.
            if let asset { keys.release(asset) }
            let next = AVURLAsset(url: stream)
            keys.protect(next)
            player.replaceCurrentItem(with: AVPlayerItem(asset: next))
            player.play()
            asset = next
        }

        func enteredBackground() { keys.suspend() }

        func enteredForeground() { keys.resume() }

        /// Shows failures as long as the keys exist.
        func follow(_ alerts: any KeyAlerts) async {
            for await outcome in keys.outcomes {
                switch outcome {
                case .failure(let failure): alerts.show(failure)
                case .notice(let notice): alerts.show(notice)
                case .cancellation, .dropped: break
                }
            }
        }
    }

    // MARK: - A queue

    extension PlayerOfYourOwn {
        /// The items of a queue. Every asset is protected before its item is made, under its own title.
        func items(of titles: [(name: AssetID, stream: URL)]) -> [AVPlayerItem] {
            titles.map { title in
                let asset = AVURLAsset(url: title.stream)
                keys.protect(asset, as: title.name)
                return AVPlayerItem(asset: asset)
            }
        }

        /// Releases an item that has left the queue, for example at `AVPlayerItem.didPlayToEndTimeNotification`.
        func ended(_ item: AVPlayerItem) {
            if let asset = item.asset as? AVURLAsset { keys.release(asset) }
        }
    }
#endif
