#if canImport(AVFoundation)
    public import AVFoundation
    @_spi(Adapters) public import Latchkey

    /// Delivers keys to AVFoundation's assets, through one content key session per asset.
    ///
    ///     let keys = AVPlayerKeys(loader)
    ///     keys.protect(asset, as: "movie-1")
    ///     player.replaceCurrentItem(with: AVPlayerItem(asset: asset))
    ///
    /// `outcomes` reports results. `ProtectedPlayback` does all of this for an app whose views observe it.
    ///
    /// Keep it as long as its assets play, because AVFoundation holds its delegate weakly. When it is deallocated it ends open requests
    /// and releases its keys. Keys that the app requested from `loader.offline` are stored, and come from the store from then on, if the
    /// system allows it; all other keys are streamed. Several instances may share a loader. Safe to use from any thread.
    ///
    /// A key is renewed as long as its asset is protected and exists. A released asset leaves its keys for the next asset of the same
    /// stream or title: if that is protected within the lease, it needs no new license.
    ///
    /// **For maintainers.** The way of a request: a delegate callback, `take(_:for:in:)`, the loader, `SessionKeyRequest.answer(_:)`,
    /// then `succeed` or `fail` when AVFoundation reports. The life of a key belongs to the loader; this class only maps AVFoundation's
    /// objects to it. `state` holds the sessions, and nothing calls out while holding its lock. Four rules prevent exceptions and lost
    /// keys: a request is answered once, on `queue`; a session expires on `queue`, after its callbacks and answers; elsewhere a session
    /// is used only in `whileUsable`; no two assets use one session at a time (`AssetSession`).
    public nonisolated final class AVPlayerKeys: NSObject, Sendable {
        struct State {
            var sessions: [AssetSession] = []
            var isSuspended = false

            /// The index of a session.
            func index(of session: AVContentKeySession) -> Int? { sessions.firstIndex { $0.session === session } }

            /// Marks a session as idle and moves it to the end, as the newest idle one.
            mutating func end(_ index: Int) -> AssetSession {
                var session = sessions.remove(at: index)
                session.end()
                sessions.append(session)
                return session
            }
        }

        let loader: ContentKeyLoader
        let options: Options
        /// The results, from the start: up to 256 outcomes are buffered, and `Outcome.dropped(_:)` counts the rest. For one
        /// reader; the initializer's closures do not consume it. Ends with this object.
        public let outcomes: AsyncStream<Outcome>
        private let unread: UnreadOutcomes
        private let onOutcome: @Sendable (Outcome) -> Void
        /// The sessions call back on this queue, and requests are answered on it, so an answer cannot race with a cancellation.
        let queue = DispatchQueue(label: "latchkey.content-key-session")
        let state = Locked(State())
        /// Held while a session is in use: expiring it on another thread at that time raises an exception. No callback acquires it.
        private let sessionUse = NSLock()

        /// Creates keys whose owner reads `outcomes`.
        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - options: The session settings. The defaults suit production.
        public convenience init(_ loader: ContentKeyLoader, options: Options = Options()) {
            self.init(loader, options: options) { _ in }
        }

        /// Creates keys with closures in addition to `outcomes`.
        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - options: The session settings. The defaults suit production.
        ///   - onNotice: Receives events other than failures. Called on a queue that it must not block.
        ///   - onFailure: Receives the reason that a key was not delivered, was rejected, or ended; not called for
        ///     cancellations. Called on a queue that it must not block.
        public convenience init(
            _ loader: ContentKeyLoader, options: Options = Options(),
            onNotice: @escaping @Sendable (Notice) -> Void = { _ in },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.init(loader, options: options) { outcome in
                switch outcome {
                case .notice(let notice): onNotice(notice)
                case .failure(let failure): onFailure(failure)
                case .cancellation, .dropped: break
                }
            }
        }

        /// - Parameter onOutcome: Receives every outcome, in addition to `outcomes`, without its limit.
        init(_ loader: ContentKeyLoader, options: Options, onOutcome: @escaping @Sendable (Outcome) -> Void) {
            self.loader = loader
            self.options = options
            self.onOutcome = onOutcome
            unread = UnreadOutcomes()
            outcomes = unread.stream
            super.init()
        }

        /// The sessions also expire, after the last answer.
        deinit {
            release()
            unread.finish()
        }

        /// Delivers an outcome to the closure and the stream.
        func emit(_ outcome: Outcome) {
            onOutcome(outcome)
            unread.add(outcome)
        }

        /// Provides an asset with its keys. Call it before the asset loads anything: before its player item is made.
        /// Protecting it again changes nothing.
        ///
        /// In the simulator, which has no FairPlay, this reports the failure `playerUnsupported`.
        /// - Parameters:
        ///   - asset: The asset to play, which may be an interstitial's.
        ///   - name: The app's name for the title, used to request credentials and carried by failures and events. Defaults to
        ///     `nil`: the name under which the keys were preloaded or stored, if any.
        public func protect(_ asset: AVURLAsset, as name: AssetID? = nil) {
            endSessionsWithoutUser()
            whileUsable {
                let session = takeSession(for: asset, as: name)
                if !session.session.contentKeyRecipients.contains(where: { $0 === asset }) {
                    session.session.addContentKeyRecipient(asset)
                }
                loader.forgetRefusals(by: session.player)
                let isSuspended = { self.state.withLock { $0.isSuspended } }
                if isSuspended() { loader.suspend(session.player) }
                // Checked again, because `resume()` may have run in between.
                if !isSuspended() { loader.resume(session.player) }
            }
        }

        /// Releases the keys of an asset that no longer plays: its open requests end with `cancelled`, and its keys are not
        /// renewed.
        ///
        /// Make a new asset to play the stream again. Within the lease it needs no new license, unless the vendor's session
        /// has ended.
        public func release(_ asset: AVURLAsset) {
            let released = state.withLock { state in
                state.sessions.firstIndex { $0.asset === asset && !$0.isIdle }.map { state.end($0) }
            }
            guard let released else { return }
            whileUsable { released.session.removeContentKeyRecipient(asset) }
            leave(released)
        }

        /// Releases all keys: open requests end with `cancelled`, no key is renewed, and the sessions expire.
        public func release() {
            for session in removeAll() { end(session) }
        }

        /// Pauses renewals and heartbeats until `resume()`, for a window or an app in the background that does not play.
        public func suspend() {
            for player in setSuspended(true) { loader.suspend(player) }
        }

        /// Resumes renewals after `suspend()`. An overdue renewal is made once.
        public func resume() {
            for player in setSuspended(false) { loader.resume(player) }
        }

        /// The title of a key that a notice names; `nil` if unknown.
        public func asset(of key: KeyURI) -> AssetID? {
            let sessions = state.withLock { $0.sessions }.sorted { !$0.isIdle && $1.isIdle }
            let known = sessions.lazy.compactMap {
                $0.requests.asset(of: key) ?? self.loader.asset(of: key, for: $0.player)
            }
            return known.first ?? sessions.first { $0.requests.keys.contains(key) }?.name
        }

        /// Requests a key before an asset does. The next asset of the same title uses it.
        /// - Parameters:
        ///   - key: The key's URI as the playlist states it.
        ///   - asset: The app's name for the title, as for `protect(_:as:)`. Defaults to `nil`: the key is for the next protected asset.
        /// - Returns: `false` in the simulator, and if the key is present or was requested, because AVFoundation would do nothing.
        @discardableResult
        public func preload(_ key: KeyURI, as asset: AssetID? = nil) -> Bool { preload(key, as: asset, of: nil) }

        /// Requests a key before an asset does, like `preload(_:as:)`.
        /// - Parameters:
        ///   - key: The key's URI as the playlist states it.
        ///   - asset: The app's name for the title; `nil` if it has none.
        ///   - stream: The playlist's URL; `nil` if unknown. An asset without a name gets the key if it plays this stream.
        @discardableResult
        public func preload(_ key: KeyURI, as asset: AssetID?, of stream: URL?) -> Bool {
            process(key.raw, nil, key, asset, stream)
        }

        /// Requests the key of initialization data before an asset does; `Options.keyNamed` names the key.
        /// - Parameters:
        ///   - initializationData: The stream's data.
        ///   - asset: The app's name for the title. Defaults to `nil`: the key is for the next protected asset.
        /// - Returns: `false` in the simulator, and if the key is present or was requested.
        @discardableResult
        public func preload(initializationData: Data, as asset: AssetID? = nil) -> Bool {
            process(nil, initializationData, options.keyNamed(initializationData), asset, nil)
        }

        /// Requests the keys whose leases ended because the app was away or their renewals failed, for assets that are still protected.
        ///
        /// AVFoundation then makes a renewal request for each; failures are reported again. Playback that has only stalled continues. A
        /// failed item stays failed: make a new asset and item, and protect the asset.
        /// - Returns: The requested keys.
        @discardableResult
        public func renewEndedKeys() -> Set<KeyURI> {
            let players = state.withLock { $0.sessions.filter(\.hasUser).map(\.player) }
            return Set(players.flatMap { loader.renewEndedKeys(of: $0) })
        }

        /// Starts over with new sessions, after the media services were reset or after the notice `stuck`: open requests end
        /// with `cancelled`, the old sessions expire, and new ones request the same keys.
        ///
        /// An asset that has begun to load cannot change its session: make new assets and items, and protect them; each gets
        /// the keys of its stream or title.
        public func replaceSession() {
            let replaced = removeAll()
            let titles = replaced.map { old in
                old.requests.keys.map { ($0, old.asset(of: $0) ?? loader.asset(of: $0, for: old.player)) }
            }
            for session in replaced { end(session) }
            for (session, keys) in zip(replaced, titles) where !session.isIdle {
                for (key, asset) in keys { process(key.raw, nil, key, asset, session.stream) }
            }
        }
    }

    nonisolated extension AVPlayerKeys: PreloadingPlayer {}

    // MARK: - Sessions

    nonisolated extension AVPlayerKeys {
        /// Makes a session request a key, unless it has or is requesting the key.
        /// - Returns: Whether the key is requested.
        @discardableResult
        private func process(
            _ identifier: String?, _ initializationData: Data?, _ key: KeyURI?, _ asset: AssetID?, _ stream: URL?
        ) -> Bool {
            var isAsked = false
            whileUsable {
                let session = takeSession(for: key, of: stream, as: asset)
                let isKnown = state.withLock { state in
                    guard let key, let index = state.index(of: session.session) else { return false }
                    state.sessions[index].requests.name(asset, of: key)
                    return state.sessions[index].requests.keys.contains(key)
                }
                guard !isKnown else { return }
                isAsked = true
                session.session.processContentKeyRequest(
                    withIdentifier: identifier, initializationData: initializationData, options: nil)
            }
            return isAsked
        }

        /// The session for an asset: its own, an idle one that matches and whose keys are valid, or a new one.
        private func takeSession(for asset: AVURLAsset, as name: AssetID?) -> AssetSession {
            let (own, idle) = state.withLock { state in
                (
                    state.sessions.first { $0.asset === asset && !$0.isIdle },
                    state.sessions.compactMap { session in session.fit(asset, as: name).map { (session, $0) } }
                        .max { $0.1 < $1.1 }?.0
                )
            }
            if own == nil, let idle, !isUsable(idle) {
                remove(idle)
                return takeSession(for: asset, as: name)
            }
            let session = own ?? idle ?? makeSession()
            return change(session) { $0.begin(asset, as: name) }
        }

        /// Whether an asset can take over a session: its keys are requested or valid.
        private func isUsable(_ session: AssetSession) -> Bool {
            session.requests.isEmpty || session.requests.openRequests.contains { $0.purpose != .renewal }
                || loader.holdsLiveKeys(session.player)
        }

        /// The session for a preloaded key: the session of the stream or title, one that has the key, or a new one.
        private func takeSession(for key: KeyURI?, of stream: URL?, as name: AssetID?) -> AssetSession {
            let known = state.withLock { state in
                let known = state.sessions.filter {
                    $0.isFor(stream, name) || stream == nil && name == nil && key.map($0.requests.keys.contains) == true
                }
                return known.first { !$0.isIdle } ?? known.last
            }
            if let known, !known.isIdle || isUsable(known) { return known }
            if let known { remove(known) }
            let session = makeSession(for: stream, as: name)
            loader.suspend(session.player)
            return change(session) { _ in }
        }

        private func makeSession(for stream: URL? = nil, as name: AssetID? = nil) -> AssetSession {
            let session =
                options.reports.map { AVContentKeySession(keySystem: .fairPlayStreaming, storageDirectoryAt: $0) }
                ?? AVContentKeySession(keySystem: .fairPlayStreaming)
            session.setDelegate(self, queue: queue)
            if options.usesAdvisoryKeys { session.useAdvisoryKeys() }
            let requests = SessionRequests<SessionKeyRequest>(retries: options.retries, stuckAfter: options.stuckAfter)
            return AssetSession(session, for: stream, as: name, requests)
        }

        /// Changes a session, and adds it if it is new.
        private func change(_ session: AssetSession, _ body: (inout AssetSession) -> Void) -> AssetSession {
            state.withLock { state in
                let index = state.index(of: session.session) ?? state.sessions.count
                if index == state.sessions.count { state.sessions.append(session) }
                body(&state.sessions[index])
                return state.sessions[index]
            }
        }

        /// Keeps the keys of an unused session for the next asset, if that can use them.
        private func leave(_ session: AssetSession) {
            for request in session.requests.openRequests { request.release() }
            guard loader.canKeep(session.player) else { return remove(session) }
            loader.suspend(session.player)
            let (isTaken, idle) = state.withLock { state in
                let isTaken = state.index(of: session.session).map { !state.sessions[$0].isIdle } ?? false
                return (isTaken && !state.isSuspended, state.sessions.filter(\.isIdle))
            }
            // An asset may have taken over the session in the meantime.
            if isTaken { loader.resume(session.player) }
            let (played, preloaded) = (idle.filter(\.hasPlayed), idle.filter { !$0.hasPlayed })
            for session in played.dropLast(Self.idleLimit) + preloaded.dropLast(Self.preloadLimit) { remove(session) }
        }

        /// The number of idle sessions kept for the next asset of their streams.
        private static let idleLimit = 4
        /// The number of idle sessions kept that only preloaded keys.
        private static let preloadLimit = 16

        /// Marks sessions as idle if their assets no longer exist.
        private func endSessionsWithoutUser() {
            let left = state.withLock { state in
                state.sessions.filter { !$0.isIdle && !$0.hasUser }
                    .compactMap { state.index(of: $0.session).map { state.end($0) } }
            }
            for session in left { leave(session) }
        }

        /// Whether an asset uses the keys of a session. Marks the session as idle if its asset no longer exists.
        func hasUser(_ session: AVContentKeySession) -> Bool {
            endSessionsWithoutUser()
            return state.withLock { state in state.index(of: session).map { state.sessions[$0].hasUser } ?? false }
        }

        private func setSuspended(_ isSuspended: Bool) -> [PlayerID] {
            state.withLock { state in
                state.isSuspended = isSuspended
                return state.sessions.filter { !$0.isIdle }.map(\.player)
            }
        }

        private func removeAll() -> [AssetSession] {
            state.withLock { state in
                defer { state.sessions = [] }
                return state.sessions
            }
        }

        /// Removes a session, unless an asset has taken it over in the meantime.
        private func remove(_ session: AssetSession) {
            let removed = state.withLock { state in
                state.index(of: session.session).flatMap {
                    state.sessions[$0].isIdle ? state.sessions.remove(at: $0) : nil
                }
            }
            if let removed { end(removed) }
        }

        /// Releases the requests and keys of a removed session, and expires it.
        private func end(_ session: AssetSession) {
            for request in session.requests.openRequests { request.release() }
            loader.release(session.player)
            queue.async { [queue, sessionUse, session = session.session] in
                // Waits for the current use to end. No new use can begin, because the session was removed.
                sessionUse.withLock {}
                // After pending callbacks and their answers, which run on the same queue.
                queue.async { queue.async { session.expire() } }
            }
        }
    }

    // MARK: - Use of sessions

    nonisolated extension AVPlayerKeys {
        /// Runs a closure during which no session expires.
        /// - Returns: Whether the platform has sessions.
        @discardableResult
        func whileUsable(_ body: () -> Void) -> Bool {
            #if targetEnvironment(simulator)  // Creating a FairPlay session there raises an exception.
                onFailure(KeyFailure(.unsupported))
                return false
            #else
                sessionUse.withLock { body() }
                return true
            #endif
        }

        /// Runs a closure with a temporary session, which expires when `done` is called.
        /// - Returns: Whether the platform has sessions.
        func withNewSession(_ body: (_ session: AVContentKeySession, _ done: @escaping @Sendable () -> Void) -> Void)
            -> Bool
        {
            whileUsable {
                let session = makeSession().session
                body(session) { session.expire() }
            }
        }
    }
#endif
