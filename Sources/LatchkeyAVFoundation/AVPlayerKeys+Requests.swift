#if canImport(AVFoundation)
    import AVFoundation
    @_spi(Adapters) import Latchkey

    // A request is taken, perhaps made persistable, given to the loader, and removed when AVFoundation reports success or failure.
    nonisolated extension AVPlayerKeys {
        /// Takes a request, unless it was taken before.
        func take(_ request: AVContentKeyRequest, for purpose: KeyPurpose, in session: AVContentKeySession) {
            // Made without the lock, because it asks the app what the key is called. The player's name changes with the session only.
            let named = request.initializationData.flatMap(options.keyNamed)
            let key = KeyURI(playerIdentifier: request.identifier) ?? named ?? ""
            let recipient = request.recipient
            let (player, asset) = state.withLock { state in
                (state.requests.player, state.requests.asset(of: key, for: recipient))
            }
            let make = purpose == .persistable ? PersistableSessionKeyRequest.init : SessionKeyRequest.init
            let taken = make(request, key, purpose, session, self, player, asset)
            let isNew = state.withLock { state in
                state.session === session ? state.requests.add(taken, as: request, for: recipient) : nil
            }
            guard let isNew else { return taken.answer(.failure(.released)) }
            guard isNew else { return }
            guard !key.raw.isEmpty else { return taken.answer(.failure(.keyUnnamed)) }
            guard purpose == .streaming, let offline = loader.offline else {
                return queue.async { [loader] in taken.start(loader) }
            }
            startTask { [queue, weak self] in
                let asset = await offline.asset(needing: key)
                if let asset { taken.name(asset) }
                queue.async { [weak self] in self?.start(taken, storing: asset != nil) }
            }
        }

        private func start(_ taken: SessionKeyRequest, storing isWanted: Bool) {
            guard isWanted else { return taken.start(loader) }
            do {
                // The request stays open until its successor ends, so that it is not taken a second time.
                try taken.becomePersistable()
            } catch {
                onNotice(.streamedInstead(taken.keyURI))
                taken.start(loader)
            }
        }

        /// AVFoundation took the key.
        func succeed(_ request: AVContentKeyRequest) {
            let (taken, isForAsset) = state.withLock { ($0.requests.succeed(request), $0.requests.hasOwners) }
            guard let taken else { return }
            // A key that is only downloaded does not play yet.
            if taken.purpose == .persistable, isForAsset { loader.offline?.started(taken.keyURI) }
            onNotice(.succeeded(taken.keyURI, taken.purpose))
        }

        /// AVFoundation reported that a request got no key, or that its key cannot be used.
        func fail(_ request: AVContentKeyRequest, _ error: any Error) {
            let (taken, isAskedAgain) = state.withLock { state in
                let taken = state.requests.fail(request)
                return (taken, taken.map { state.requests.isPending($0.keyURI) } ?? false)
            }
            guard let taken else { return }
            let (key, phase) = (taken.keyURI, taken.reply.state)
            if phase.isAnswered { taken.discard() } else { taken.reply.abandon() }
            guard !(phase.refusal.map { $0.kind == .cancelled } ?? error.isCancellation) else {
                // A request that another one replaced is not the end of the wait for its key.
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
            if phase.isAnswered { recover(taken) }
            if state.withLock({ $0.requests.isStuck(after: error) }) { onNotice(.stuck) }
        }

        /// Whether to ask again for a key that AVFoundation turned down. Each reason has a count of its own, until AVFoundation takes a key.
        func mayRetry(_ request: AVContentKeyRequest, _ reason: AVContentKeyRequest.RetryReason) -> Bool {
            let taken = state.withLock { $0.requests.retry(request, because: reason.rawValue) }
            taken?.discard()
            return taken != nil
        }

        /// Tries again after AVFoundation did not take a key: a stored key may be bad, and a renewal has time left.
        private func recover(_ taken: SessionKeyRequest) {
            switch taken.purpose {
            case .streaming: break
            case .persistable:
                startTask { [weak self, loader] in
                    guard (try? await loader.offline?.rejected(taken.keyURI)) == .fetchAgain else { return }
                    self?.request(taken.keyURI, as: taken.asset)
                }
            case .renewal: _ = state.withLock { $0.requests.retryRenewal(of: taken.keyURI) }?.renew()
            }
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
#endif
