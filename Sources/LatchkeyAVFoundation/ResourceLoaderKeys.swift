#if canImport(AVFoundation) && !os(watchOS)
    public import AVFoundation
    @_spi(Adapters) public import Latchkey

    /// Delivers keys to AVFoundation's assets through their resource loader, for apps that have not moved to content key sessions.
    ///
    ///     let keys = ResourceLoaderKeys(loader, onFailure: show)
    ///     keys.protect(asset, as: "movie-1")
    ///
    /// Keep it as long as its assets play, because AVFoundation holds its delegate weakly. When it is deallocated it ends open requests
    /// and releases its keys. It handles requests for `skd` URLs only, so the app's own delegate can forward to it. New apps use
    /// `AVPlayerKeys`: Apple deprecated keys through the resource loader with version 18 and no longer supports them. Safe to use from
    /// any thread.
    public nonisolated final class ResourceLoaderKeys: NSObject, Sendable {
        private struct State {
            /// The open requests.
            var requests: [ObjectIdentifier: LoadingKeyRequest] = [:]
            /// The app's names for the titles.
            var titles: [ObjectIdentifier: AssetID] = [:]
            /// The players that requested keys.
            var players: Set<PlayerID> = []
            var isSuspended = false
        }

        private let loader: ContentKeyLoader
        private let assetOf: @Sendable (KeyURI) -> AssetID?
        let onFailure: @Sendable (KeyFailure) -> Void
        /// The resource loader calls back on this queue, and requests are finished on it, so an answer cannot race with a cancellation.
        let queue = DispatchQueue(label: "latchkey.resource-loader")
        private let state = Locked(State())

        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - assetOf: Returns the title of a key whose asset was not protected by name, for example because a player owns
        ///     its assets. Defaults to `nil` for each key.
        ///   - onFailure: Receives the reason that a key was not delivered or ended; not called for cancellations. Called on a
        ///     queue that it must not block.
        public init(
            _ loader: ContentKeyLoader, assetOf: @escaping @Sendable (KeyURI) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.loader = loader
            self.assetOf = assetOf
            self.onFailure = onFailure
            super.init()
        }

        deinit { release() }

        /// Provides an asset with its keys. Call it before the asset loads anything.
        /// - Parameters:
        ///   - asset: The asset to play.
        ///   - name: The app's name for the title, used to request credentials and carried by failures and events. Defaults to
        ///     `nil`: the name under which the keys were stored, if any.
        public func protect(_ asset: AVURLAsset, as name: AssetID? = nil) {
            state.withLock { $0.titles[ObjectIdentifier(asset.resourceLoader)] = name }
            loader.forgetRefusals(by: player(of: asset.resourceLoader))
            asset.resourceLoader.setDelegate(self, queue: queue)
            asset.resourceLoader.preloadsEligibleContentKeys = true
        }

        /// Releases the keys of an asset that no longer plays: its open requests end with `cancelled`, and its keys are not renewed.
        public func release(_ asset: AVURLAsset) {
            asset.resourceLoader.setDelegate(nil, queue: nil)
            state.withLock { $0.titles[ObjectIdentifier(asset.resourceLoader)] = nil }
            release(player(of: asset.resourceLoader))
        }

        /// Releases all keys: open requests end with `cancelled`, and no key is renewed.
        public func release() { for player in state.withLock({ $0.players }) { release(player) } }

        /// Pauses renewals and heartbeats until `resume()`, for a window or an app in the background that does not play.
        public func suspend() { for player in setSuspended(true) { loader.suspend(player) } }

        /// Resumes renewals after `suspend()`. An overdue renewal is made once.
        public func resume() { for player in setSuspended(false) { loader.resume(player) } }

        private func setSuspended(_ isSuspended: Bool) -> Set<PlayerID> {
            state.withLock { state in
                state.isSuspended = isSuspended
                return state.players
            }
        }

        func release(_ player: PlayerID) {
            let open = state.withLock { state in
                let open = state.requests.filter { $0.value.player == player }
                state.requests = state.requests.filter { $0.value.player != player }
                state.players.remove(player)
                return open.values
            }
            for request in open { request.release() }
            loader.release(player)
        }
    }

    nonisolated extension ResourceLoaderKeys: AVAssetResourceLoaderDelegate {
        public func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
        ) -> Bool {
            take(loadingRequest, for: .streaming, of: resourceLoader)
        }

        public func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
        ) -> Bool {
            take(renewalRequest, for: .renewal, of: resourceLoader)
        }

        public func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
        ) {
            state.withLock { $0.requests.removeValue(forKey: ObjectIdentifier(loadingRequest)) }?.reply.abandon()
        }
    }

    nonisolated extension ResourceLoaderKeys {
        func player(of source: AVAssetResourceLoader) -> PlayerID {
            PlayerID("AVAssetResourceLoader \(ObjectIdentifier(source)) \(ObjectIdentifier(self))")
        }

        private func take(
            _ request: AVAssetResourceLoadingRequest, for purpose: KeyPurpose, of source: AVAssetResourceLoader
        ) -> Bool {
            let key = KeyURI(playerIdentifier: request.request.url) ?? ""
            guard key.scheme?.lowercased() == "skd" else { return false }
            let asset = state.withLock { $0.titles[ObjectIdentifier(source)] } ?? assetOf(key)
            let taken = LoadingKeyRequest(request, key, for: purpose, of: source, asset, self)
            let isNew = state.withLock { state in
                let replaced = state.requests.updateValue(taken, forKey: ObjectIdentifier(request))
                if let replaced { state.requests[ObjectIdentifier(request)] = replaced }
                state.players.insert(taken.player)
                return replaced == nil
            }
            let isSuspended = { self.state.withLock { $0.isSuspended } }
            if isSuspended() {
                loader.suspend(taken.player)
                // `resume()` may have run in between.
                if !isSuspended() { loader.resume(taken.player) }
            }
            if isNew { start(taken) }
            return true
        }

        private func start(_ taken: LoadingKeyRequest) {
            #if targetEnvironment(simulator)
                taken.answer(.failure(.unsupported))
            #else
                guard taken.purpose == .streaming, let offline = loader.offline else { return taken.start(loader) }
                startTask { [loader] in
                    if let asset = await offline.asset(needing: taken.keyURI) {
                        taken.name(asset)
                        taken.startStoring(loader)
                    } else {
                        taken.start(loader)
                    }
                }
            #endif
        }

        /// Removes a finished request.
        func finished(_ request: LoadingKeyRequest) {
            state.withLock { $0.requests[ObjectIdentifier(request.request)] = nil }
        }
    }
#endif
