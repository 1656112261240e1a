#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyAVFoundation

    /// Gives the interstitials of a player their keys: each has its own asset.
    @MainActor
    final class InterstitialKeys {
        private let keys: AVPlayerKeys
        private let monitor: AVPlayerInterstitialEventMonitor
        /// The assets of items that are not in an event yet.
        private var made: [AVURLAsset] = []
        private var scheduled: [AVURLAsset] = []
        private var observers: [any NSObjectProtocol] = []

        init(_ keys: AVPlayerKeys, of player: AVPlayer) {
            self.keys = keys
            monitor = AVPlayerInterstitialEventMonitor(primaryPlayer: player)
            var names = [AVPlayerInterstitialEventMonitor.eventsDidChangeNotification]
            // An event with an asset list has no items until the system has read the list.
            if #available(iOS 16.4, tvOS 16.4, macOS 13.3, watchOS 9.4, *) {
                names.append(AVPlayerInterstitialEventMonitor.assetListResponseStatusDidChangeNotification)
            }
            // Apple does not say on which thread they come.
            observers = names.map { name in
                NotificationCenter.default.addObserver(forName: name, object: monitor, queue: nil) { [weak self] _ in
                    Task { @MainActor [weak self] in self?.followEvents() }
                }
            }
            followEvents()
        }

        /// Makes an item for `AVPlayerInterstitialEvent.templateItems`, with its keys.
        ///
        /// AVFoundation plays the asset of this item. Of an asset without the primary asset's session identifier it plays an
        /// equivalent one, which has no keys.
        func item(_ stream: URL, during primary: AVURLAsset) -> AVPlayerItem {
            let asset = AVURLAsset(
                url: stream, options: [AVURLAssetPrimarySessionIdentifierKey: primary.httpSessionIdentifier])
            keys.protect(asset)
            made.append(asset)
            return AVPlayerItem(asset: asset)
        }

        /// Releases the keys; call it when the player is done.
        func end() {
            for observer in observers { NotificationCenter.default.removeObserver(observer) }
            for asset in made + scheduled { keys.release(asset) }
            (made, scheduled, observers) = ([], [], [])
        }

        /// Protects the assets of new events, and releases those of events that are over.
        private func followEvents() {
            let now = monitor.events.flatMap(\.templateItems).compactMap { $0.asset as? AVURLAsset }
            for asset in now where !(made + scheduled).contains(asset) { keys.protect(asset) }
            for asset in scheduled where !now.contains(asset) { keys.release(asset) }
            made.removeAll(where: now.contains)
            scheduled = now
        }
    }
#endif
