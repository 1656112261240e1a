#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyAVFoundation

    /// Gives the interstitials of a player their keys: each has an asset of its own.
    @MainActor
    final class InterstitialKeys {
        private let keys: AVPlayerKeys
        private let monitor: AVPlayerInterstitialEventMonitor
        private var assets: [AVURLAsset] = []
        private var observer: (any NSObjectProtocol)?

        init(_ keys: AVPlayerKeys, of player: AVPlayer) {
            self.keys = keys
            monitor = AVPlayerInterstitialEventMonitor(primaryPlayer: player)
            // Nothing says on which thread it comes.
            observer = NotificationCenter.default.addObserver(
                forName: AVPlayerInterstitialEventMonitor.eventsDidChangeNotification, object: monitor, queue: nil
            ) { [weak self] _ in
                Task { @MainActor [weak self] in self?.followEvents() }
            }
            followEvents()
        }

        /// Releases the keys; call it when the player is done.
        func end() {
            if let observer { NotificationCenter.default.removeObserver(observer) }
            for asset in assets { keys.release(asset) }
            assets = []
        }

        /// Protects the assets of new events, and releases those of events that are over.
        private func followEvents() {
            let now = monitor.events.flatMap(\.templateItems).compactMap { $0.asset as? AVURLAsset }
            for asset in now where !assets.contains(asset) { keys.protect(asset) }
            for asset in assets where !now.contains(asset) { keys.release(asset) }
            assets = now
        }
    }
#endif
