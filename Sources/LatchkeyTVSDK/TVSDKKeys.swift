#if canImport(PSDKLibrary)
    public import AVFoundation
    public import Latchkey
    import LatchkeyAVFoundation
    public import PSDKLibrary

    /// Delivers keys to Adobe TVSDK's players: the FairPlay resource loader that an app writes according to Adobe's guides.
    ///
    ///     let keys = TVSDKKeys(loader, onFailure: show)
    ///     keys.register()
    ///
    /// The SDK has one resource loader for all players and items, and retains it; register it before the first item. Requests
    /// are accepted immediately and finished later. The SDK's protocol has no method for renewals: a key with a lease ends
    /// with it, which `onFailure` reports, unless the SDK passes AVFoundation's renewals on, which are handled. Adobe has
    /// ended the product, and Apple this way to load keys: new apps use AVPlayer with `AVPlayerKeys`. Safe to use from any
    /// thread. Source: `Documentation/Players.md` §7.
    // Sound: `keys` is only accessed while the lock is held.
    public nonisolated final class TVSDKKeys: NSObject, @unchecked Sendable {
        private let loader: ContentKeyLoader
        private let loaderFor: @Sendable (KeyURI) -> ContentKeyLoader?
        private let assetOf: @Sendable (KeyURI) -> AssetID?
        private let onFailure: @Sendable (KeyFailure) -> Void
        private let lock = NSLock()
        /// The keys of each loader, which they retain.
        private var keys: [ObjectIdentifier: ResourceLoaderKeys] = [:]
        private var isSuspended = false

        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - loaderFor: Returns the loader of a key of another vendor or configuration, and `nil` for `loader`, which is the default.
        ///   - assetOf: Returns the app's name for the title of a key, such as the title loaded last, used to request credentials and
        ///     carried by failures and events. Defaults to `nil` for each key. Called on any thread.
        ///   - onFailure: Receives the reason that a key was not delivered or ended; not called for cancellations. Called on any thread,
        ///     which it must not block.
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

        /// Makes this the resource loader of all players, replacing any other.
        public func register() {
            PTDefaultMediaPlayerClientFactory.default()?.registerPTAVAssetResourceLoader(self)
        }

        /// Releases the keys of all players: open requests end with `cancelled`, and no key is renewed.
        public func release() {
            for keys in lock.withLock({ Array(keys.values) }) { keys.release() }
        }

        /// Pauses renewals and heartbeats until `resume()`, for an app in the background that does not play.
        public func suspend() { for keys in setSuspended(true) { keys.suspend() } }

        /// Resumes renewals after `suspend()`. An overdue renewal is made once.
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

        /// Handles renewals from an SDK that passes them on. It would find this method by its name, because its protocol
        /// mirrors AVFoundation's.
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
