#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyCore

    // The way of a request: taken, perhaps made persistable, given to the loader, and ended by AVFoundation's last word about it.
    extension ContentKeySessionBridge {
        /// Takes a request in; one that was handed over already is not taken again.
        func take(_ request: AVContentKeyRequest, for purpose: KeyPurpose, in session: AVContentKeySession) {
            let (taken, isCurrent) = state.withLock { state in
                guard state.open[ObjectIdentifier(request)] == nil else { return (nil as SessionKeyRequest?, true) }
                state.last += 1
                let make = purpose == .persistable ? PersistableSessionKeyRequest.init : SessionKeyRequest.init
                let taken = make(request, purpose, session, self, state)
                let isCurrent = state.session === session
                if isCurrent { state.open[ObjectIdentifier(request)] = taken }
                return (taken, isCurrent)
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
            let (taken, isForAsset) = state.withLock { state in
                let taken = state.takeOpen(request)
                state.stuck = 0
                if let taken {
                    state.retries.refill(taken.keyURI)
                    if state.held[taken.keyURI].map({ $0.number < taken.number }) ?? true {
                        state.held[taken.keyURI] = taken
                    }
                }
                return (taken, !state.assets.isEmpty)
            }
            guard let taken else { return }
            // A key that is only downloaded does not play yet.
            if taken.purpose == .persistable, isForAsset { loader.offline?.started(taken.keyURI) }
            notify(.succeeded(taken.keyURI, taken.purpose))
        }

        /// AVFoundation is done with a request that got no key, or whose key it does not take.
        func fail(_ request: AVContentKeyRequest, _ error: any Error) {
            guard let taken = state.withLock({ $0.takeOpen(request) }) else { return }
            let phase = taken.phase
            taken.close()
            if case .refused(let refusal) = phase {
                guard refusal.kind != .cancelled else { return }
                notify(.failed(KeyFailure(refusal, key: taken.keyURI)))
                return noteIfStuck(error)
            }
            let isAnswered = if case .answered = phase { true } else { false }
            if isAnswered { taken.giveBack() }
            guard !error.isCancellation else { return }
            notify(.failed(KeyFailure(player: error, key: taken.keyURI)))
            if isAnswered { recover(taken) }
            noteIfStuck(error)
        }

        /// Whether a key that AVFoundation turned down is asked for again; each reason has its own count until a key is taken.
        func mayRetry(_ request: AVContentKeyRequest, _ reason: AVContentKeyRequest.RetryReason) -> Bool {
            let taken = state.withLock { state in
                guard let taken = state.open[ObjectIdentifier(request)],
                    state.retries.take(taken.keyURI, reason.rawValue)
                else { return nil as SessionKeyRequest? }
                state.open[ObjectIdentifier(request)] = nil
                return taken
            }
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
            case .renewal:
                let held = state.withLock { $0.retries.take(taken.keyURI, "renewal") ? $0.held[taken.keyURI] : nil }
                _ = held?.renew()
            }
        }

        private func noteIfStuck(_ error: any Error) {
            let isStale = FairPlayErrorExplanation.chain(of: error).contains { $0.code == Self.staleSPC }
            let count = state.withLock { state in
                state.stuck = isStale ? state.stuck + 1 : 0
                return state.stuck
            }
            if count == options.stuckAfter { notify(.stuck) }
        }

        /// What FairPlay reports in its stuck state (`player-apis.md` §3.14).
        private static let staleSPC = -42669
    }

    extension ContentKeySessionBridge.State {
        /// Takes out a request that AVFoundation is done with, and those whose place it took.
        fileprivate mutating func takeOpen(_ request: AVContentKeyRequest) -> SessionKeyRequest? {
            guard let taken = open.removeValue(forKey: ObjectIdentifier(request)) else { return nil }
            open = open.filter {
                $0.value.keyURI != taken.keyURI || $0.value.number > taken.number || !$0.value.isClosed
            }
            return taken
        }
    }

    extension SessionKeyRequest {
        /// The loader need not keep alive a key that was not taken. A renewal's key is the one before it.
        fileprivate func giveBack() {
            if purpose == .renewal { close() } else { release() }
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
