#if canImport(AVFoundation) && !os(watchOS)
    public import AVFoundation
    import LatchkeyCore

    /// Gives keys to assets whose keys come through their resource loader, for apps that have not moved to content key sessions.
    ///
    ///     let keys = ResourceLoaderBridge(loader)
    ///     keys.protect(asset)
    ///
    /// Keep the bridge as long as its assets play; AVFoundation holds its delegate weakly. It takes requests for `skd` URLs only, so
    /// a delegate of the app's own can forward to it. New apps use `ContentKeySessionBridge`, which also stores and renews keys
    /// on demand; Apple has deprecated this way for keys with version 18. Safe to use from any thread.
    public final class ResourceLoaderBridge: NSObject, Sendable {
        private struct State {
            var requests: [ObjectIdentifier: LoadingKeyRequest] = [:]
            /// The latest request of each key, to release it by.
            var keys: [Key: LoadingKeyRequest] = [:]
        }

        private struct Key: Hashable {
            let source: ObjectIdentifier
            let uri: KeyURI
        }

        private let loader: ContentKeyLoader
        let notify: @Sendable (KeyFailure) -> Void
        /// Callbacks come here, and requests are finished here, so that no finish crosses a cancellation.
        let queue = DispatchQueue(label: "latchkey.resource-loader")
        private let state = Locked(State())

        /// - Parameters:
        ///   - loader: gets the keys.
        ///   - notify: hears why a key did not come or ended; called on a queue of the bridge, which it must not block.
        public init(_ loader: ContentKeyLoader, notify: @escaping @Sendable (KeyFailure) -> Void = { _ in }) {
            self.loader = loader
            self.notify = notify
            super.init()
        }

        deinit { release { _ in true } }

        /// Has the keys of an asset come from here. Call it before the asset loads anything.
        public func protect(_ asset: AVURLAsset) {
            asset.resourceLoader.setDelegate(self, queue: queue)
            asset.resourceLoader.preloadsEligibleContentKeys = true
        }

        /// Says that an asset plays no more: open requests end with `cancelled`, and its keys are let go.
        public func unprotect(_ asset: AVURLAsset) {
            asset.resourceLoader.setDelegate(nil, queue: nil)
            let source = ObjectIdentifier(asset.resourceLoader)
            release { $0.source == source }
        }

        private func release(_ goes: (LoadingKeyRequest) -> Bool) {
            let released = state.withLock { state in
                let released = Array(state.requests.values) + Array(state.keys.values)
                state.requests = state.requests.filter { !goes($0.value) }
                state.keys = state.keys.filter { !goes($0.value) }
                return released.filter(goes)
            }
            for request in released { request.release() }
        }
    }

    #if canImport(ObjectiveC)
        @objc
    #endif
    extension ResourceLoaderBridge: AVAssetResourceLoaderDelegate {
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
            state.withLock { $0.requests.removeValue(forKey: ObjectIdentifier(loadingRequest)) }?.slot.abandon()
        }
    }

    extension ResourceLoaderBridge {
        func player(of source: AVAssetResourceLoader) -> PlayerID {
            PlayerID("AVAssetResourceLoader \(ObjectIdentifier(source)) \(ObjectIdentifier(self))")
        }

        private func take(
            _ request: AVAssetResourceLoadingRequest, for purpose: KeyPurpose, of source: AVAssetResourceLoader
        ) -> Bool {
            let key = KeyURI(playerIdentifier: request.request.url) ?? ""
            guard key.scheme?.lowercased() == "skd" else { return false }
            let taken = LoadingKeyRequest(request, key, for: purpose, of: source, self)
            let isNew = state.withLock { state in
                let replaced = state.requests.updateValue(taken, forKey: ObjectIdentifier(request))
                if let replaced { state.requests[ObjectIdentifier(request)] = replaced }
                return replaced == nil
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
                    if await offline.isRequested(taken.keyURI) {
                        taken.startStoring(loader)
                    } else {
                        taken.start(loader)
                    }
                }
            #endif
        }

        /// A request is finished; where it brought a key, it stays to release the key by.
        func finished(_ request: LoadingKeyRequest, with result: Result<Data, ContentKeyError>) {
            state.withLock { state in
                state.requests[ObjectIdentifier(request.request)] = nil
                guard case .success = result else { return }
                state.keys[Key(source: request.source, uri: request.keyURI)] = request
            }
        }
    }
#endif
