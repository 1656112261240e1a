#if canImport(AVFoundation)
    public import AVFoundation
    import LatchkeyCore

    /// Gives the keys of AVFoundation's assets: the delegate of a content key session of its own.
    ///
    ///     let keys = ContentKeySessionBridge(loader)
    ///     keys.protect(asset)
    ///     player.replaceCurrentItem(with: AVPlayerItem(asset: asset))
    ///
    /// Keep the bridge as long as its assets play; AVFoundation holds its delegate weakly. Going away, it answers what is open and
    /// lets the keys go. Keys that an app requested of `loader.offline` are stored, and answered from the store, where the system
    /// allows it; all others are streamed. Any number of bridges may share a loader: one per player keeps their keys apart.
    ///
    /// Safe to use from any thread.
    public final class ContentKeySessionBridge: NSObject, Sendable {
        struct State {
            var session: AVContentKeySession?
            var requests: KeyRequestLedger<SessionKeyRequest>
        }

        let loader: ContentKeyLoader
        let options: ContentKeySessionOptions
        let notify: @Sendable (ContentKeySessionNotice) -> Void
        /// The session's callbacks come here, and requests are answered here, so that no answer crosses a cancellation.
        let queue = DispatchQueue(label: "latchkey.content-key-session")
        let state: Locked<State>

        /// - Parameters:
        ///   - loader: gets the keys.
        ///   - options: what can be set.
        ///   - notify: hears what the app may want to know, mostly failures; called on a queue of the bridge, which it must not
        ///     block.
        public init(
            _ loader: ContentKeyLoader, options: ContentKeySessionOptions = ContentKeySessionOptions(),
            notify: @escaping @Sendable (ContentKeySessionNotice) -> Void = { _ in }
        ) {
            self.loader = loader
            self.options = options
            self.notify = notify
            state = Locked(State(requests: KeyRequestLedger(retries: options.retries, stuckAfter: options.stuckAfter)))
            super.init()
        }

        /// The keys that players hold go with the bridge; so does the session, once the last answer is given.
        deinit { endAll() }

        /// Has the keys of an asset come from here. Call it before the asset loads anything: before its player item is made.
        ///
        /// In the simulator, which has no FairPlay, this tells of an error with the code `playerUnsupported`.
        public func protect(_ asset: AVURLAsset) {
            guard let session = openSession() else { return }
            session.addContentKeyRecipient(asset)
            state.withLock { $0.requests.join(asset) }
        }

        /// Says that an asset plays no more: its keys are let go. Where the system does not say which asset asked for a key, before
        /// version 26, keys that several assets may use go with the last of them.
        public func unprotect(_ asset: AVURLAsset) {
            let (session, released) = state.withLock { ($0.session, $0.requests.leave(asset)) }
            session?.removeContentKeyRecipient(asset)
            for request in released { request.release() }
        }

        /// Asks for a key before an asset does.
        /// - Returns: false where the key is there or on its way, as AVFoundation would do nothing, and in the simulator.
        @discardableResult
        public func preload(_ key: KeyURI) -> Bool {
            !state.withLock { $0.requests.knows(key) } && request(key)
        }

        /// Begins anew with another session, after the media services were reset or when keys stay away for no reason: what is
        /// open is answered with an error, and the keys that were there are asked for again.
        ///
        /// An asset that has begun to load cannot change its session: make new assets and items, and protect them.
        public func rebuild() {
            let keys = endAll()
            for key in keys { request(key) }
        }

        /// Ends everything: open requests are answered with `cancelled`, keys are let go, the session is expired.
        public func close() {
            let session = state.withLock { $0.session }
            endAll()
            // Behind the answers, which take the same queue.
            queue.async { session?.expire() }
        }
    }

    extension ContentKeySessionBridge: PreloadingPlayer {}

    // MARK: - The session

    extension ContentKeySessionBridge {
        /// Has the session make a key request.
        /// - Returns: whether there is a session.
        @discardableResult
        func request(_ key: KeyURI) -> Bool {
            guard let session = openSession() else { return false }
            session.processContentKeyRequest(withIdentifier: key.raw, initializationData: nil, options: nil)
            return true
        }

        /// A key's life is over.
        func end(_ request: SessionKeyRequest, _ error: ContentKeyError) {
            state.withLock { $0.requests.end(request) }
            notify(.failed(KeyFailure(error, key: request.keyURI)))
        }

        /// Whether the bridge still speaks for a session.
        func isCurrent(_ session: AVContentKeySession) -> Bool { state.withLock { $0.session === session } }

        private func openSession() -> AVContentKeySession? {
            #if targetEnvironment(simulator)
                // Making a FairPlay session there is an exception.
                notify(.failed(KeyFailure(.unsupported, key: nil)))
                return nil
            #else
                return state.withLock { state in
                    if let session = state.session { return session }
                    let session =
                        options.reports.map {
                            AVContentKeySession(keySystem: .fairPlayStreaming, storageDirectoryAt: $0)
                        } ?? AVContentKeySession(keySystem: .fairPlayStreaming)
                    session.setDelegate(self, queue: queue)
                    state.session = session
                    return session
                }
            #endif
        }

        /// Ends what belongs to the session, and forgets it.
        /// - Returns: the keys that it had or was asked for.
        @discardableResult
        private func endAll() -> Set<KeyURI> {
            let requests = state.withLock { state in
                state.session = nil
                return state.requests.leaveAll()
            }
            for request in requests { request.release() }
            return Set(requests.map(\.keyURI))
        }
    }
#endif
