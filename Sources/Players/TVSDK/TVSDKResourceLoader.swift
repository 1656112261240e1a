#if canImport(PSDKLibrary)
    public import AVFoundation
    import LatchkeyAVFoundation
    import LatchkeyCore
    public import PSDKLibrary

    /// Gives the keys of Adobe TVSDK's players: the FairPlay resource loader that its guides have an app write.
    ///
    ///     let keys = TVSDKResourceLoader(ContentKeyLoader(.expressPlay(certificate: certificate))) { key, error in report(error) }
    ///     keys.register()
    ///
    /// The SDK has one resource loader for all players and items, and holds it; register it before the first item. It never
    /// waits: a request is taken at once and finished later. The SDK passes no renewals on, so a key with a lease ends with it, and
    /// `onError` hears of that. Safe to use from any thread. Source: `player-apis.md` §7.
    // Sound: `bridges` is touched only while the lock is held.
    public final class TVSDKResourceLoader: NSObject, @unchecked Sendable {
        /// Hears why a key did not come, or ended: the key, where it is known, and an error with domain, number and remedy.
        public typealias ErrorHandler = @Sendable (KeyURI?, NSError) -> Void

        private let loader: ContentKeyLoader
        private let choose: @Sendable (KeyURI) -> ContentKeyLoader?
        private let onError: ErrorHandler
        private let lock = NSLock()
        /// One for each loader, which it keeps.
        private var bridges: [ObjectIdentifier: ResourceLoaderBridge] = [:]

        /// - Parameters:
        ///   - loader: gets the keys.
        ///   - choosing: another loader for some keys, of another vendor or configuration; nil, as unless given, for `loader`.
        ///   - onError: called on any thread, which it must not block.
        public init(
            _ loader: ContentKeyLoader, choosing: @escaping @Sendable (KeyURI) -> ContentKeyLoader? = { _ in nil },
            onError: @escaping ErrorHandler
        ) {
            self.loader = loader
            choose = choosing
            self.onError = onError
            super.init()
        }

        /// Makes this the resource loader of all players, in place of any other.
        public func register() {
            PTDefaultMediaPlayerClientFactory.default()?.registerPTAVAssetResourceLoader(self)
        }

        private func bridge(for loader: ContentKeyLoader) -> ResourceLoaderBridge {
            lock.withLock {
                if let bridge = bridges[ObjectIdentifier(loader)] { return bridge }
                let bridge = ResourceLoaderBridge(loader) { [onError] failure in onError(failure.key, failure.error) }
                bridges[ObjectIdentifier(loader)] = bridge
                return bridge
            }
        }
    }

    #if canImport(ObjectiveC)
        @objc
    #endif
    extension TVSDKResourceLoader: PTAVAssetResourceLoaderDelegate {
        public func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader!,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest!
        ) -> Bool {
            guard let resourceLoader, let loadingRequest, let url = loadingRequest.request.url else { return false }
            return bridge(for: choose(KeyURI(url.absoluteString)) ?? loader)
                .resourceLoader(resourceLoader, shouldWaitForLoadingOfRequestedResource: loadingRequest)
        }
    }
#endif
