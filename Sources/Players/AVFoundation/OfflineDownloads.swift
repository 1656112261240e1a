// Downloads exist on tvOS and watchOS in other forms, or not at all.
#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    public import AVFoundation
    import LatchkeyCore

    /// Downloads streams to play without a network: first all keys, then the media.
    ///
    ///     let downloads = OfflineDownloads(loader, configuration: .background(withIdentifier: "app.downloads")) { event in … }
    ///     try await downloads.begin("movie-1", title: "A Movie", from: url, keys: keysOfTheChosenRenditions)
    ///
    /// A title is ready when its media is there and `loader.offline` says that its keys are. To play it, make an asset of the stored
    /// location's `url` and protect it as any other. Make one of these per launch with the same identifier, and the system goes on
    /// telling it of downloads that outlived the app.
    public final class OfflineDownloads: Sendable {
        private let loader: ContentKeyLoader
        private let options: ContentKeySessionOptions
        private let session: AVAssetDownloadURLSession

        /// - Parameters:
        ///   - loader: gets and stores the keys; its configuration names a key store.
        ///   - configuration: the download session's; a background one, so that downloads outlive the app.
        ///   - options: of the key session that gets the keys.
        ///   - hear: hears of the media, on a queue of the session.
        public init(
            _ loader: ContentKeyLoader, configuration: URLSessionConfiguration,
            options: ContentKeySessionOptions = ContentKeySessionOptions(),
            hear: @escaping @Sendable (OfflineDownloadEvent) -> Void
        ) {
            self.loader = loader
            self.options = options
            session = AVAssetDownloadURLSession(
                configuration: configuration, assetDownloadDelegate: DownloadListener(hear), delegateQueue: nil)
        }

        /// Downloads that run go on; the session lets its delegate go when they are done.
        deinit { session.finishTasksAndInvalidate() }

        /// Stores the keys of a title, and then begins to download its media.
        /// - Parameters:
        ///   - asset: what the app calls the title in its store.
        ///   - title: what the system shows where it lists downloads.
        ///   - url: the multivariant playlist.
        ///   - keys: the keys of all chosen renditions, audio, SD and HD alike; `KeyDiscovery` finds them in a playlist.
        ///   - choose: chooses the renditions, for which AVFoundation has its own types.
        /// - Throws: what `storeKeys(_:of:)` throws; then no media is downloaded.
        public func begin(
            _ asset: AssetID, title: String, from url: URL, keys: Set<KeyURI>,
            choose: (AVAssetDownloadConfiguration) -> Void = { _ in }
        ) async throws {
            try await storeKeys(keys, of: asset)
            let configuration = AVAssetDownloadConfiguration(asset: AVURLAsset(url: url), title: title)
            choose(configuration)
            let task = session.makeAssetDownloadTask(downloadConfiguration: configuration)
            task.taskDescription = asset.rawValue
            task.resume()
        }

        /// Gets and stores the keys of a title that are not stored or have expired, as to renew them.
        /// - Throws: `ContentKeyError` and `OfflineError`; an `NSError` of AVFoundation where it took no key; `CancellationError`.
        public func storeKeys(_ keys: Set<KeyURI>, of asset: AssetID) async throws {
            guard let offline = loader.offline else {
                throw OfflineError(.noStore, "The loader was made without a store.")
            }
            let requested = try await offline.request(asset, keys: keys)
            let missing = requested.keys.filter { ![.stored, .playing].contains($0.state) }.map(\.uri)
            try await fetch(Set(missing))
            guard try await offline.asset(asset)?.isReady == true else { throw ContentKeyError.notStored }
        }

        /// Renews the stored keys that are due; the media stays as it is, and so does a key for which there is no new one.
        /// - Returns: the keys that were renewed.
        /// - Throws: as `storeKeys(_:of:)`; `renewalUnsupported` where the vendor renews no stored key.
        @discardableResult
        public func renewKeys() async throws -> Set<KeyURI> {
            let due = Set(try await loader.offline?.dueForRenewal().map(\.uri) ?? [])
            try await fetch(due, .isReplaced)
            return due
        }

        /// Has a key session of its own ask for keys, as one that streams a key asks for it no more.
        private func fetch(_ keys: Set<KeyURI>, _ storedKeys: StoredKeyUse = .answers) async throws {
            var options = options
            options.storedKeys = storedKeys
            let (notices, continuation) = AsyncStream<ContentKeySessionNotice>.makeStream()
            let bridge = ContentKeySessionBridge(loader, options: options) { continuation.yield($0) }
            defer { bridge.close() }
            var missing = keys
            for key in keys { bridge.preload(key) }
            var iterator = notices.makeAsyncIterator()
            while !missing.isEmpty {
                switch await iterator.next() {
                case .succeeded(let key, _)?: missing.remove(key)
                case .failed(let failure)?: throw failure.loaderError ?? failure.error
                case .streamedInstead?: throw ContentKeyError.notPersistable
                case nil: throw CancellationError()
                default: break
                }
            }
        }
    }

    /// What happens to the media of a title.
    public enum OfflineDownloadEvent: Sendable {
        /// A share of the media is there, 0 to 1.
        case progressed(AssetID, Double)
        /// The media is there. Keep the location: the system does not tell it again.
        case finished(AssetID, OfflineLocation)
        /// The media did not come. What came of it is at the location, where there is one, and may be resumed or removed.
        case failed(AssetID, NSError, OfflineLocation?)
    }

    /// Where downloaded media is. The system moves an app's folder between launches, so the path counts from the app's home.
    public struct OfflineLocation: Sendable, Hashable, Codable {
        /// The path below the home folder; one that begins with a slash is elsewhere, and stays as it is.
        public let path: String

        /// - Parameters:
        ///   - url: where the system put the media.
        ///   - home: the app's home folder of now.
        public init(_ url: URL, home: String = NSHomeDirectory()) {
            let prefix = home.hasSuffix("/") ? home : home + "/"
            path = url.path.hasPrefix(prefix) ? String(url.path.dropFirst(prefix.count)) : url.path
        }

        /// Where the media is now.
        public var url: URL { url(home: NSHomeDirectory()) }

        /// Where the media is in a home folder.
        public func url(home: String) -> URL {
            URL(fileURLWithPath: path.hasPrefix("/") ? path : "\(home)/\(path)")
        }
    }
#endif
