#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyCore

    // The way of a request: taken, perhaps made persistable, given to the loader, and ended by AVFoundation's last word about it.
    extension ContentKeySessionBridge {
        /// Takes a request in; one that was handed over already is not taken again.
        func take(_ request: AVContentKeyRequest, for purpose: KeyPurpose, in session: AVContentKeySession) {
            let (taken, isCurrent) = state.withLock { state in
                let make = purpose == .persistable ? PersistableSessionKeyRequest.init : SessionKeyRequest.init
                let taken = make(request, purpose, session, self, state.requests.player)
                guard state.session === session else { return (taken as SessionKeyRequest?, false) }
                return (state.requests.enter(taken, as: request, for: request.asset) ? taken : nil, true)
            }
            guard let taken else { return }
            guard isCurrent else { return taken.answer(.failure(.released)) }
            guard !taken.keyURI.raw.isEmpty else { return taken.answer(.failure(.keyUnnamed)) }
            guard purpose == .streaming, let offline = loader.offline else {
                return queue.async { [loader] in taken.start(loader) }
            }
            startTask { [queue, weak self] in
                let isWanted = await offline.isRequested(taken.keyURI)
                queue.async { [weak self] in self?.start(taken, storing: isWanted) }
            }
        }

        private func start(_ taken: SessionKeyRequest, storing isWanted: Bool) {
            guard isWanted else { return taken.start(loader) }
            do {
                // It stays among the open ones until its successor ends, so that it is not taken a second time.
                try taken.becomePersistable()
            } catch {
                notify(.streamedInstead(taken.keyURI))
                taken.start(loader)
            }
        }

        /// AVFoundation took the key.
        func succeed(_ request: AVContentKeyRequest) {
            let (taken, isForAsset) = state.withLock { ($0.requests.succeed(request), $0.requests.hasOwners) }
            guard let taken else { return }
            // A key that is only downloaded does not play yet.
            if taken.purpose == .persistable, isForAsset { loader.offline?.started(taken.keyURI) }
            notify(.succeeded(taken.keyURI, taken.purpose))
        }

        /// AVFoundation is done with a request that got no key, or whose key it does not take.
        func fail(_ request: AVContentKeyRequest, _ error: any Error) {
            guard let taken = state.withLock({ $0.requests.fail(request) }) else { return }
            let (key, phase) = (taken.keyURI, taken.slot.phase)
            if phase.isAnswered { taken.giveBack() } else { taken.slot.abandon() }
            guard !(phase.refusal.map { $0.kind == .cancelled } ?? error.isCancellation) else { return }
            notify(.failed(phase.refusal.map { KeyFailure($0, key: key) } ?? KeyFailure(player: error, key: key)))
            if phase.isAnswered { recover(taken) }
            if state.withLock({ $0.requests.isStuck(after: error) }) { notify(.stuck) }
        }

        /// Whether a key that AVFoundation turned down is asked for again; each reason has its own count until a key is taken.
        func mayRetry(_ request: AVContentKeyRequest, _ reason: AVContentKeyRequest.RetryReason) -> Bool {
            let taken = state.withLock { $0.requests.retry(request, because: reason.rawValue) }
            taken?.giveBack()
            return taken != nil
        }

        /// Tries once more after a key that was not taken: a stored key may be bad, and a renewal has time left.
        private func recover(_ taken: SessionKeyRequest) {
            switch taken.purpose {
            case .streaming: break
            case .persistable:
                startTask { [weak self, loader] in
                    guard (try? await loader.offline?.rejected(taken.keyURI)) == .fetchAgain else { return }
                    self?.request(taken.keyURI)
                }
            case .renewal: _ = state.withLock { $0.requests.retryRenewal(of: taken.keyURI) }?.renew()
            }
        }
    }

    extension Error {
        fileprivate var isCancellation: Bool {
            let error = self as NSError
            return error.domain == AVFoundationErrorDomain
                && [AVError.Code.operationCancelled, .contentKeyRequestCancelled].contains { $0.rawValue == error.code }
        }
    }
#endif
