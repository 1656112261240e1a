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

        /// The session goes too, once the last answer is given.
        deinit { endAll() }

        /// Gives an asset its keys. Call it before the asset loads anything: before its player item is made.
        ///
        /// In the simulator, which has no FairPlay, this reports the failure `playerUnsupported`.
        /// - Parameters:
        ///   - asset: What plays; also an interstitial's asset.
        ///   - name: The app's name for the title, which credentials are asked for with, and which failures and events carry. Before
        ///     version 26 the system does not say which asset asks for a key: where several are protected at once, the name is known for
        ///     keys that were preloaded or stored under it. Defaults to `nil`: the name under which the keys were stored, if any.
        public func protect(_ asset: AVURLAsset, as name: AssetID? = nil) {
            guard let session = openSession() else { return }
            session.addContentKeyRecipient(asset)
            let player = state.withLock { state in
                state.requests.addOwner(asset, as: name)
                return state.requests.player
            }
            loader.forgetRefusals(by: player)
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
            let session = state.withLock { $0.session }
            endAll()
            // Behind the answers, which take the same queue.
            queue.async { session?.expire() }
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
            guard let session = openSession() else { return false }
            if let key = options.keyNamed(initializationData) { state.withLock { $0.requests.name(asset, of: key) } }
            session.processContentKeyRequest(
                withIdentifier: nil, initializationData: initializationData, options: nil)
            return true
        }

        /// Starts over with a new session, after the media services were reset or after the notice `stuck`: open requests end with
        /// `cancelled`, and the new session asks for the same keys.
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
        func request(_ key: KeyURI, as asset: AssetID?) -> Bool {
            guard let session = openSession() else { return false }
            state.withLock { $0.requests.name(asset, of: key) }
            session.processContentKeyRequest(withIdentifier: key.raw, initializationData: nil, options: nil)
            return true
        }

        /// Removes a key that ended, and reports why.
        func end(_ request: SessionKeyRequest, _ error: ContentKeyError) {
            state.withLock { $0.requests.keyEnded(request) }
            onFailure(KeyFailure(error, key: request.keyURI, asset: request.asset))
        }

        /// Whether a session is the one in use.
        func isCurrent(_ session: AVContentKeySession) -> Bool { state.withLock { $0.session === session } }

        func openSession() -> AVContentKeySession? {
            #if targetEnvironment(simulator)
                // Making a FairPlay session there is an exception.
                onFailure(KeyFailure(.unsupported))
                return nil
            #else
                if let session = state.withLock({ $0.session }) { return session }
                let session =
                    options.reports.map {
                        AVContentKeySession(keySystem: .fairPlayStreaming, storageDirectoryAt: $0)
                    } ?? AVContentKeySession(keySystem: .fairPlayStreaming)
                session.setDelegate(self, queue: queue)
                if options.usesAdvisoryKeys { session.useAdvisoryKeys() }
                // Of two that are made at the same time one stays; nothing was asked of the other.
                return state.withLock { state in
                    state.session = state.session ?? session
                    return state.session
                }
            #endif
        }

        /// Releases all requests and keys of the session, and forgets the session.
        /// - Returns: The keys that the session had or was asked for, with their titles.
        @discardableResult
        private func endAll() -> [KeyURI: AssetID?] {
            let requests = state.withLock { state in
                state.session = nil
                return state.requests.removeAll()
            }
            for request in requests { request.release() }
            return Dictionary(requests.map { ($0.keyURI, $0.asset) }) { $0 ?? $1 }
        }
    }
#endif
