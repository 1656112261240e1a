#if canImport(AVFoundation)
    import AVFoundation
    @_spi(Adapters) import Latchkey

    // A request is added, perhaps made persistable, given to the loader, and removed when AVFoundation reports success or failure.
    nonisolated extension AVPlayerKeys {
        /// Adds a request and starts it, unless it was added before.
        func take(_ request: AVContentKeyRequest, for purpose: KeyPurpose, in session: AVContentKeySession) {
            // Evaluated outside the lock, because it calls the app.
            let named = request.initializationData.flatMap(options.keyNamed)
            let key = KeyURI(playerIdentifier: request.identifier) ?? named ?? ""
            let known = state.withLock { state in state.index(of: session).map { state.sessions[$0] } }
            let player = known?.player ?? .only
            let asset = known?.asset(of: key) ?? loader.asset(of: key, for: player)
            let make = purpose == .persistable ? PersistableSessionKeyRequest.init : SessionKeyRequest.init
            let isForReplays =
                purpose == .persistable && changeSession(session) { $0.keptForReplays.remove(key) != nil } == true
            let taken = make(request, key, isForReplays ? .streaming : purpose, session, self, player, asset)
            let isNew = change(session) { $0.add(taken, as: request) }
            guard let isNew else { return taken.answer(.failure(.released)) }
            guard isNew else { return }
            guard !key.raw.isEmpty else { return taken.answer(.failure(.keyUnnamed)) }
            guard purpose == .streaming, loader.offline != nil || loader.licenseCache != nil else {
                return queue.async { [loader] in taken.start(loader) }
            }
            startTask { [queue, loader, weak self] in
                let asset = await loader.offline?.asset(needing: key)
                if let asset { taken.name(asset) }
                queue.async { [weak self] in self?.start(taken, storing: asset != nil) }
            }
        }

        private func start(_ taken: SessionKeyRequest, storing isWanted: Bool) {
            guard isWanted else { return startForReplays(taken) }
            do {
                try makePersistable(taken)
            } catch {
                onNotice(.streamedInstead(taken.keyURI))
                taken.start(loader)
            }
        }

        /// Asks AVFoundation to replace a request with a persistable one of the same title. The request stays open until its
        /// successor ends, so that it is not added a second time.
        func makePersistable(_ taken: SessionKeyRequest) throws {
            change(taken.session) { $0.name(taken.asset, of: taken.keyURI) }
            try taken.becomePersistable()
        }

        /// Records that AVFoundation accepted the key.
        func succeed(_ request: AVContentKeyRequest, in session: AVContentKeySession) {
            guard let taken = change(session, { $0.succeed(request) }) ?? nil else { return }
            // A key that is only being downloaded has not started playback.
            if taken.purpose == .persistable, hasUser(session) { loader.offline?.started(taken.keyURI) }
            onNotice(.succeeded(taken.keyURI, taken.purpose))
        }

        /// Records that a request got no key, or that its key cannot be used.
        func fail(_ request: AVContentKeyRequest, _ error: any Error, in session: AVContentKeySession) {
            let failed = change(session) { requests in
                requests.fail(request).map { ($0, isAskedAgain: requests.isOpen($0.keyURI)) }
            }
            guard let (taken, isAskedAgain) = failed ?? nil else { return }
            let (key, phase) = (taken.keyURI, taken.reply.state)
            if phase.isAnswered { taken.discard() } else { taken.reply.abandon() }
            guard !(phase.refusal.map { $0.kind == .cancelled } ?? error.isCancellation) else {
                // A request that was replaced does not end the wait for its key.
                if !phase.isAbandoned, !isAskedAgain {
                    onCancelled(
                        KeyFailure(phase.refusal ?? .cancelledBySystem(error), key: key, asset: taken.asset))
                }
                return
            }
            if let refusal = phase.refusal, refusal.isRepeated {
                return onCancelled(KeyFailure(refusal, key: key, asset: taken.asset))
            }
            onFailure(
                phase.refusal.map { KeyFailure($0, key: key, asset: taken.asset) }
                    ?? KeyFailure(player: error, key: key, asset: taken.asset))
            if taken.isForReplays { return streamInstead(taken) }
            if phase.isAnswered { recover(taken) }
            if change(session, { $0.isStuck(after: error) }) == true { onNotice(.stuck) }
        }

        /// Whether to ask again for a key that AVFoundation rejected. Each reason has its own count, which resets when
        /// AVFoundation accepts a key.
        func mayRetry(
            _ request: AVContentKeyRequest, _ reason: AVContentKeyRequest.RetryReason, in session: AVContentKeySession
        ) -> Bool {
            let taken = change(session) { $0.retry(request, because: reason.rawValue) } ?? nil
            taken?.discard()
            if let taken, taken.isForReplays { loader.licenseCache?.drop(taken.keyURI) }
            return taken != nil
        }

        /// Tries again after AVFoundation rejected a key: a stored key may be bad, and a renewal has time left.
        private func recover(_ taken: SessionKeyRequest) {
            switch taken.purpose {
            case .streaming: break
            case .persistable:
                startTask { [weak self, loader] in
                    guard (try? await loader.offline?.rejected(taken.keyURI)) == .fetchAgain else { return }
                    self?.request(taken.keyURI, again: taken.session)
                }
            case .renewal: _ = (change(taken.session) { $0.retryRenewal(of: taken.keyURI) } ?? nil)?.renew()
            }
        }

        /// Changes a session; `nil` if it is not in use.
        @discardableResult
        func changeSession<Value: Sendable>(
            _ session: AVContentKeySession, _ body: (inout AssetSession) -> Value
        ) -> Value? {
            state.withLock { state in state.index(of: session).map { body(&state.sessions[$0]) } }
        }

        /// Changes a session's requests; `nil` if the session is not in use.
        @discardableResult
        private func change<Value: Sendable>(
            _ session: AVContentKeySession, _ body: (inout SessionRequests<SessionKeyRequest>) -> Value
        ) -> Value? {
            changeSession(session) { body(&$0.requests) }
        }
    }

    nonisolated extension ContentKeyError {
        fileprivate static func cancelledBySystem(_ error: any Error) -> ContentKeyError {
            ContentKeyError(
                .cancelled,
                "AVFoundation cancelled the key request, as it does when a session expires.",
                remedy: "Ask for the keys again.", isRetryable: true, underlying: error)
        }
    }

    nonisolated extension Error {
        fileprivate var isCancellation: Bool {
            let error = self as NSError
            return error.domain == AVFoundationErrorDomain
                && [AVError.Code.operationCancelled, .contentKeyRequestCancelled].contains { $0.rawValue == error.code }
        }
    }

    // MARK: - Called by requests

    nonisolated extension AVPlayerKeys {
        /// Requests a key again from the session that had it.
        func request(_ key: KeyURI, again session: AVContentKeySession) {
            whileUsable {
                guard state.withLock({ $0.index(of: session) }) != nil else { return }
                session.processContentKeyRequest(withIdentifier: key.raw, initializationData: nil, options: nil)
            }
        }

        /// The keys that the playlists of a session's asset name now; `nil` if one cannot be read.
        func keysInPlaylists(of session: AVContentKeySession) async -> Set<KeyURI>? {
            let known = state.withLock { state in state.index(of: session).map { state.sessions[$0] } }
            guard options.readsPlaylists, let known, let stream = known.asset?.url, !stream.isFileURL else {
                return nil
            }
            return await loader.keysNow(in: stream, heldBy: known.player)
        }

        /// Reports the reason that a key ended.
        func report(_ error: ContentKeyError, _ request: SessionKeyRequest) {
            onFailure(KeyFailure(error, key: request.keyURI, asset: request.asset))
        }

        /// The request with which a session renews a key.
        func taken(_ key: KeyURI, in session: AVContentKeySession) -> SessionKeyRequest? {
            state.withLock { state in state.index(of: session).flatMap { state.sessions[$0].requests[key] } }
        }

        /// Whether a session is in use.
        func isCurrent(_ session: AVContentKeySession) -> Bool { state.withLock { $0.index(of: session) } != nil }
    }
#endif
