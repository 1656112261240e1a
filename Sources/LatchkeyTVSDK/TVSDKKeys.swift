#if canImport(PSDKLibrary)
    public import AVFoundation
    public import Latchkey
    import LatchkeyAVFoundation
    public import PSDKLibrary

    /// Gives Adobe TVSDK's players their keys: the FairPlay resource loader that Adobe's guides have an app write.
    ///
    ///     let keys = TVSDKKeys(loader, onFailure: show)
    ///     keys.register()
    ///
    /// The SDK has one resource loader for all players and items, and holds it; register it before the first item. Requests are taken at once
    /// and finished later. The SDK's protocol has no method for renewals: a key with a lease ends with it, and `onFailure` is told,
    /// unless the SDK passes AVFoundation's renewals on, which are taken. Adobe has ended the product, and Apple this way to load keys:
    /// new apps use AVPlayer with `AVPlayerKeys`. Safe to use from any thread. Source: `Documentation/Players.md` §7.
    // Sound: `keys` is only touched while the lock is held.
    public nonisolated final class TVSDKKeys: NSObject, @unchecked Sendable {
        private let loader: ContentKeyLoader
        private let loaderFor: @Sendable (KeyURI) -> ContentKeyLoader?
        private let assetOf: @Sendable (KeyURI) -> AssetID?
        private let onFailure: @Sendable (KeyFailure) -> Void
        private let lock = NSLock()
        /// The keys of each loader, which they hold.
        private var keys: [ObjectIdentifier: ResourceLoaderKeys] = [:]
        private var isSuspended = false

        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - loaderFor: Returns the loader of a key of another vendor or configuration, and `nil` for `loader`, which is the default.
        ///   - assetOf: Returns the app's name for the title of a key, such as the one that was loaded last; credentials are asked for with
        ///     it, and failures and events carry it. Defaults to `nil` for each key. Called on any thread.
        ///   - onFailure: Takes why a key did not come or ended; not called for cancellations. Called on any thread, which it must not block.
        public init(
            _ loader: ContentKeyLoader, loaderFor: @escaping @Sendable (KeyURI) -> ContentKeyLoader? = { _ in nil },
            assetOf: @escaping @Sendable (KeyURI) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.loader = loader
            self.loaderFor = loaderFor
            self.assetOf = assetOf
            self.onFailure = onFailure
            super.init()
        }

        /// Makes this the resource loader of all players, in place of any other.
        public func register() {
            PTDefaultMediaPlayerClientFactory.default()?.registerPTAVAssetResourceLoader(self)
        }

        /// Releases the keys of all players: open requests end with `cancelled`, and no key is renewed.
        public func release() {
            for keys in lock.withLock({ Array(keys.values) }) { keys.release() }
        }

        /// Renews no key and sends no heartbeat until `resume()`, for an app in the background that does not play.
        public func suspend() { for keys in setSuspended(true) { keys.suspend() } }

        /// Renews keys again after `suspend()`. An overdue renewal is made once.
        public func resume() { for keys in setSuspended(false) { keys.resume() } }

        private func setSuspended(_ isSuspended: Bool) -> [ResourceLoaderKeys] {
            lock.withLock {
                self.isSuspended = isSuspended
                return Array(keys.values)
            }
        }

        private func keys(for request: AVAssetResourceLoadingRequest) -> ResourceLoaderKeys? {
            guard let url = request.request.url else { return nil }
            let loader = loaderFor(KeyURI(url.absoluteString)) ?? loader
            return lock.withLock {
                if let known = keys[ObjectIdentifier(loader)] { return known }
                let made = ResourceLoaderKeys(loader, assetOf: assetOf, onFailure: onFailure)
                keys[ObjectIdentifier(loader)] = made
                if isSuspended { made.suspend() }
                return made
            }
        }
    }

    nonisolated extension TVSDKKeys: PTAVAssetResourceLoaderDelegate {
        public func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader!,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest!
        ) -> Bool {
            guard let resourceLoader, let loadingRequest, let keys = keys(for: loadingRequest) else { return false }
            return keys.resourceLoader(resourceLoader, shouldWaitForLoadingOfRequestedResource: loadingRequest)
        }

        /// Takes renewals from an SDK that passes them on. It would find this by its name, because its protocol mirrors AVFoundation's.
        #if canImport(ObjectiveC)
            @objc
        #endif
        public func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader!,
            shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest!
        ) -> Bool {
            guard let resourceLoader, let renewalRequest, let keys = keys(for: renewalRequest) else { return false }
            return keys.resourceLoader(resourceLoader, shouldWaitForRenewalOfRequestedResource: renewalRequest)
        }
    }
#endif
