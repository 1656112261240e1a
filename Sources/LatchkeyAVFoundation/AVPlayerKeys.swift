#if canImport(AVFoundation)
    public import AVFoundation
    @_spi(Adapters) public import Latchkey

    /// Gives AVFoundation's assets their keys, through a content key session of its own.
    ///
    ///     let keys = AVPlayerKeys(loader, onFailure: show)
    ///     keys.protect(asset, as: "movie-1")
    ///     player.replaceCurrentItem(with: AVPlayerItem(asset: asset))
    ///
    /// Keep it as long as its assets play, because AVFoundation holds its delegate weakly. When it is deallocated it ends open requests
    /// and releases its keys. Keys that the app requested of `loader.offline` are stored, and come from the store from then on, if
    /// the system allows it; all other keys are streamed. Several of these may share a loader: with one per player, each player's keys
    /// are apart. Safe to use from any thread.
    public nonisolated final class AVPlayerKeys: NSObject, Sendable {
        struct State {
            var session: AVContentKeySession?
            var requests: SessionRequests<SessionKeyRequest>
        }

        let loader: ContentKeyLoader
        let options: Options
        let onNotice: @Sendable (Notice) -> Void
        let onFailure: @Sendable (KeyFailure) -> Void
        /// Takes why a request ended where the app is not told: it was cancelled and its key is not being asked for again, or the app knows.
        let onCancelled: @Sendable (KeyFailure) -> Void
        /// The session calls back on this queue, and requests are answered on it, so no answer crosses a cancellation.
        let queue = DispatchQueue(label: "latchkey.content-key-session")
        let state: Locked<State>
        /// Held while a session is used that another thread may expire, which raises an exception. No callback takes it.
        private let sessionUse = Locked(())

        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - options: Defaults to what production wants.
        ///   - onNotice: Takes what the app may want to know beyond failures. Called on a queue that it must not block.
        ///   - onFailure: Takes why a key did not come, was not taken, or ended; not called for cancellations. Called on a queue that it
        ///     must not block.
        public convenience init(
            _ loader: ContentKeyLoader, options: Options = Options(),
            onNotice: @escaping @Sendable (Notice) -> Void = { _ in },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.init(loader, options: options, onNotice: onNotice, onFailure: onFailure, onCancelled: { _ in })
        }

        init(
            _ loader: ContentKeyLoader, options: Options, onNotice: @escaping @Sendable (Notice) -> Void,
            onFailure: @escaping @Sendable (KeyFailure) -> Void,
            onCancelled: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.loader = loader
            self.options = options
            self.onNotice = onNotice
            self.onFailure = onFailure
            self.onCancelled = onCancelled
            state = Locked(State(requests: SessionRequests(retries: options.retries, stuckAfter: options.stuckAfter)))
            super.init()
        }

        /// The session expires, too, once the last answer is given.
        deinit { release() }

        /// Gives an asset its keys. Call it before the asset loads anything: before its player item is made.
        ///
        /// In the simulator, which has no FairPlay, this reports the failure `playerUnsupported`.
        /// - Parameters:
        ///   - asset: What plays; also an interstitial's asset.
        ///   - name: The app's name for the title, which credentials are asked for with, and which failures and events carry. Before
        ///     version 26 the system does not say which asset asks for a key: where several are protected at once, the name is known for
        ///     keys that were preloaded or stored under it. Defaults to `nil`: the name under which the keys were stored, if any.
        public func protect(_ asset: AVURLAsset, as name: AssetID? = nil) {
            withSession { session in
                session.addContentKeyRecipient(asset)
                let player = state.withLock { state in
                    state.requests.addOwner(asset, as: name)
                    return state.requests.player
                }
                loader.forgetRefusals(by: player)
            }
        }

        /// Releases the keys of an asset that no longer plays: its open requests end with `cancelled`, and its keys are not renewed.
        ///
        /// Before version 26 the system does not say which asset asked for a key; keys that several assets may use go with the last asset.
        public func release(_ asset: AVURLAsset) {
            let (session, released) = state.withLock { ($0.session, $0.requests.removeOwner(asset)) }
            session?.removeContentKeyRecipient(asset)
            for request in released { request.release() }
        }

        /// Releases all keys: open requests end with `cancelled`, no key is renewed, and the session expires.
        public func release() {
            _ = endAll()
        }

        /// The title of a key that a notice names; `nil` if it is not known.
        public func asset(of key: KeyURI) -> AssetID? { state.withLock { $0.requests.asset(of: key) } }

        /// Asks for a key before an asset does.
        /// - Parameters:
        ///   - key: The key's URI as the playlist states it.
        ///   - asset: The app's name for the title, as for `protect(_:as:)`. Defaults to `nil`: not known.
        /// - Returns: `false` in the simulator, and if the key is there or was asked for, because AVFoundation would do nothing.
        @discardableResult
        public func preload(_ key: KeyURI, as asset: AssetID? = nil) -> Bool {
            !state.withLock { $0.requests.contains(key) } && request(key, as: asset)
        }

        /// Asks for the key of initialization data before an asset does; `Options.keyNamed` names the key.
        /// - Parameters:
        ///   - initializationData: What the stream has.
        ///   - asset: The app's name for the title. Defaults to `nil`: not known.
        /// - Returns: `false` in the simulator.
        @discardableResult
        public func preload(initializationData: Data, as asset: AssetID? = nil) -> Bool {
            process(nil, initializationData, options.keyNamed(initializationData), asset)
        }

        /// Asks for the keys whose leases ended, because the app was away or their renewals failed, and that no asset was released of.
        ///
        /// AVFoundation then makes a renewal request for each; what fails is reported again. Playback that has only stalled goes on. An item
        /// that has failed stays failed: make a new asset and item, and protect the asset.
        /// - Returns: The keys that are asked for.
        @discardableResult
        public func renewEndedKeys() -> Set<KeyURI> {
            let (player, ended) = state.withLock { ($0.requests.player, $0.requests.takeEnded()) }
            loader.forgetRefusals(by: player)
            return Set(ended.filter { $0.renew() }.map(\.keyURI))
        }

        /// Starts over with a new session, after the media services were reset or after the notice `stuck`: open requests end with
        /// `cancelled`, the old session expires, and the new one asks for the same keys.
        ///
        /// An asset that has begun to load cannot change its session: make new assets and items, and protect them.
        public func replaceSession() {
            let keys = endAll()
            for (key, asset) in keys { request(key, as: asset) }
        }
    }

    nonisolated extension AVPlayerKeys: PreloadingPlayer {}

    // MARK: - The session

    nonisolated extension AVPlayerKeys {
        /// Has the session make a key request.
        /// - Returns: Whether there is a session.
        @discardableResult
        func request(_ key: KeyURI, as asset: AssetID?) -> Bool { process(key.raw, nil, key, asset) }

        private func process(
            _ identifier: String?, _ initializationData: Data?, _ key: KeyURI?, _ asset: AssetID?
        ) -> Bool {
            withSession { session in
                if let key { state.withLock { $0.requests.name(asset, of: key) } }
                session.processContentKeyRequest(
                    withIdentifier: identifier, initializationData: initializationData, options: nil)
            }
        }

        /// The keys that the playlists of the assets name now; `nil` if one cannot be read.
        func keysInPlaylists() async -> Set<KeyURI>? {
            guard options.readsPlaylists else { return nil }
            let streams = state.withLock { $0.requests.livingOwners }.compactMap { ($0 as? AVURLAsset)?.url }
                .filter { !$0.isFileURL }
            guard !streams.isEmpty else { return nil }
            var keys: Set<KeyURI> = []
            for stream in streams {
                guard let named = await loader.keysNow(in: stream) else { return nil }
                keys.formUnion(named)
            }
            return keys
        }

        /// Removes a key that is renewed no more.
        func lapse(_ request: SessionKeyRequest) { state.withLock { $0.requests.keyEnded(request) } }

        /// Removes a key that ended, and reports why.
        func end(_ request: SessionKeyRequest, _ error: ContentKeyError) {
            state.withLock { $0.requests.keyEnded(request) }
            onFailure(KeyFailure(error, key: request.keyURI, asset: request.asset))
        }

        /// Whether a session is the one in use.
        func isCurrent(_ session: AVContentKeySession) -> Bool { state.withLock { $0.session === session } }

        /// Does something with the session in use, which is made for the first call, and does not expire meanwhile.
        /// - Returns: Whether there is a session.
        @discardableResult
        func withSession(_ body: (AVContentKeySession) -> Void) -> Bool {
            #if targetEnvironment(simulator)
                // Making a FairPlay session there is an exception.
                onFailure(KeyFailure(.unsupported))
                return false
            #else
                sessionUse.withLock { _ in
                    let session = state.withLock { $0.session } ?? makeSession()
                    state.withLock { $0.session = session }
                    body(session)
                }
                return true
            #endif
        }

        private func makeSession() -> AVContentKeySession {
            let session =
                options.reports.map { AVContentKeySession(keySystem: .fairPlayStreaming, storageDirectoryAt: $0) }
                ?? AVContentKeySession(keySystem: .fairPlayStreaming)
            session.setDelegate(self, queue: queue)
            if options.usesAdvisoryKeys { session.useAdvisoryKeys() }
            return session
        }

        /// Releases all requests and keys of the session, and has the session expire.
        /// - Returns: The keys that the session had or was asked for, with their titles.
        private func endAll() -> [KeyURI: AssetID?] {
            let (session, requests) = state.withLock { state in
                defer { state.session = nil }
                return (state.session, state.requests.removeAll())
            }
            for request in requests { request.release() }
            queue.async { [queue, sessionUse] in
                // Whoever uses the session still has asked then; nobody gets it any more.
                sessionUse.withLock { _ in }
                // Behind the callbacks that are on their way, and behind their answers, which take the same queue.
                queue.async { queue.async { session?.expire() } }
            }
            return Dictionary(requests.map { ($0.keyURI, $0.asset) }) { $0 ?? $1 }
        }
    }
#endif
