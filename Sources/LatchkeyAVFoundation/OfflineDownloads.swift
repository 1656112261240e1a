// Downloads exist on tvOS not at all, and on watchOS in other forms: `StoredKeys` stores keys alone.
#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    public import AVFoundation
    public import Latchkey

    /// Downloads streams to play without a network: first all keys, then the media.
    ///
    ///     let downloads = OfflineDownloads(loader) { event in … }
    ///     try await downloads.begin("movie-1", title: "A Movie", from: url, keys: keysOfTheChosenRenditions)
    ///
    /// A title is ready when its media is there and `loader.offline` says that its keys are stored. To play it, make an asset of the
    /// location's `url` and protect it as any other, by `AVPlayerKeys` with the same loader.
    ///
    /// Downloads go on while the app is suspended. Make one of these at each launch, with the same identifier: the system then reports the
    /// downloads that outlived the app to it. Safe to use from any thread.
    public nonisolated final class OfflineDownloads: Sendable {
        /// The identifier of the background session.
        public let identifier: String
        private let loader: ContentKeyLoader
        private let storedKeys: StoredKeys
        private let session: DownloadSession

        /// - Parameters:
        ///   - loader: Gets and stores the keys; its configuration names a key store.
        ///   - identifier: Names the background session of the system, the same at each launch. Defaults to, also if empty,
        ///     `latchkey.downloads`. Two of these with one identifier share the session, and the later one gets its events.
        ///   - options: The options of the key sessions that get the keys.
        ///   - configure: Adjusts the session before it is made, such as `allowsCellularAccess` or `isDiscretionary`. Called once for each
        ///     identifier, before this returns or when the system has ended the session.
        ///   - onEvent: Takes the progress and the end of downloads. Called on a queue of the session.
        public init(
            _ loader: ContentKeyLoader, identifier: String = "latchkey.downloads",
            options: AVPlayerKeys.Options = AVPlayerKeys.Options(),
            configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in },
            onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void
        ) {
            self.loader = loader
            self.identifier = identifier.isEmpty ? "latchkey.downloads" : identifier
            storedKeys = StoredKeys(loader, options: options)
            session = DownloadSession.named(self.identifier, configure)
            session.report(to: onEvent)
        }
    }

    // MARK: - Keys

    nonisolated extension OfflineDownloads {
        /// Stores the missing keys of a title: `StoredKeys.storeKeys(_:of:)`.
        public func storeKeys(_ keys: Set<KeyURI>, of asset: AssetID) async throws {
            try await storedKeys.storeKeys(keys, of: asset)
        }

        /// Renews the stored keys that are due: `StoredKeys.renewKeys()`.
        @discardableResult
        public func renewKeys() async throws -> [KeyRenewal] { try await storedKeys.renewKeys() }

        /// Renews the keys of a title, due or not: `StoredKeys.renewKeys(of:)`.
        @discardableResult
        public func renewKeys(of asset: AssetID) async throws -> [KeyRenewal] {
            try await storedKeys.renewKeys(of: asset)
        }
    }

    // MARK: - Media

    nonisolated extension OfflineDownloads {
        /// Stores the keys of a title, and then begins to download its media; resumes the download if there is one.
        ///
        /// The system lets no download begin while the app is in the background, unless the session is discretionary.
        /// - Parameters:
        ///   - asset: The title's name in the app's store.
        ///   - title: The name that the system shows in its list of downloads.
        ///   - stream: The multivariant playlist, with the options of its requests, such as cookies or `AVURLAssetAllowsCellularAccessKey`.
        ///   - keys: The keys of all chosen renditions, audio, SD and HD alike; `loader.keys(of:)` finds them in a playlist.
        ///   - choose: Chooses the renditions, in AVFoundation's own types.
        /// - Throws: What `storeKeys(_:of:)` throws; then no media is downloaded.
        nonisolated(nonsending)
            public func begin(
                _ asset: AssetID, title: String, from stream: AVURLAsset, keys: Set<KeyURI>,
                choose: (AVAssetDownloadConfiguration) -> Void = { _ in }
            ) async throws
        {
            try await storeKeys(keys, of: asset)
            let isThere = try await running().contains { $0.asset == asset }
            try Task.checkCancellation()
            if isThere { return resume(asset) }
            let configuration = AVAssetDownloadConfiguration(asset: stream, title: title)
            choose(configuration)
            session.begin(asset, configuration)
        }

        /// Stores the keys of a title, and then begins to download its media from an address.
        nonisolated(nonsending)
            public func begin(
                _ asset: AssetID, title: String, from url: URL, keys: Set<KeyURI>,
                choose: (AVAssetDownloadConfiguration) -> Void = { _ in }
            ) async throws
        {
            try await begin(asset, title: title, from: AVURLAsset(url: url), keys: keys, choose: choose)
        }

        /// The downloads that have not ended, also those of earlier launches.
        /// - Throws: `ContentKeyError` `deadlineExceeded` if the system does not answer; `CancellationError`.
        public func running() async throws -> [OfflineDownload] {
            try await loader.withinDeadline("The system did not list its downloads") { [session] in
                try await Promise<[OfflineDownload], any Error>.value { list in
                    session.withTasks { tasks in list.resolve(.success(tasks.map(OfflineDownload.init))) }
                }
            }
        }

        /// Pauses the download of a title; nothing happens if there is none.
        public func pause(_ asset: AssetID) { session.withTasks(of: asset) { $0.suspend() } }

        /// Continues a download that was paused; nothing happens if there is none.
        public func resume(_ asset: AssetID) { session.withTasks(of: asset) { $0.resume() } }

        /// Ends the download of a title, which the event `cancelled` confirms; nothing happens if there is none. Its keys stay:
        /// `loader.offline.delete(_:)` removes them.
        public func cancel(_ asset: AssetID) { session.withTasks(of: asset) { $0.cancel() } }

        #if !os(macOS)
            /// Has the system told that the events of a background session were handled, once they were: call it from the app delegate's
            /// function of the same name.
            /// - Parameters:
            ///   - identifier: The session that the system names.
            ///   - completionHandler: The system's, called once on the main thread after the events have been given to `onEvent`.
            /// - Returns: `false` if the session is not this one; then the handler is not called.
            @MainActor @discardableResult
            public func handleEvents(
                forBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
            ) -> Bool {
                guard identifier == self.identifier else { return false }
                session.whenHandled { completionHandler() }
                return true
            }
        #endif
    }
#endif
