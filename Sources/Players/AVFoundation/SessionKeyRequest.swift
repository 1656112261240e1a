#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyCore

    /// A key request of a session as the loader sees it: answered once, on the bridge's queue, and only while AVFoundation wants it.
    ///
    /// Keeps the session, because touching a request that has none is an exception.
    // Sound: constants of sendable types, and a state behind a lock. Not final, because a persistable request is one too.
    class SessionKeyRequest: PlayerKeyRequest, @unchecked Sendable {
        /// What was said to AVFoundation.
        enum Phase {
            case open
            case answered
            case refused(ContentKeyError)
            /// Nothing, and nothing will be: a persistable request took its place, or AVFoundation gave it up.
            case closed
        }

        let keyURI: KeyURI
        let purpose: KeyPurpose
        let player: PlayerID
        /// Orders the requests of a session.
        let number: Int
        /// The asset that wants the key; nil where that is not known.
        let owner: ObjectIdentifier?
        let request: AVContentKeyRequest
        let session: AVContentKeySession
        private weak let bridge: ContentKeySessionBridge?
        private let queue: DispatchQueue
        fileprivate let options: ContentKeySessionOptions
        private let state = Locked(Phase.open)
        private let slot = KeyRequestSlot()

        init(
            _ request: AVContentKeyRequest, for purpose: KeyPurpose, in session: AVContentKeySession,
            of bridge: ContentKeySessionBridge, _ bridgeState: ContentKeySessionBridge.State
        ) {
            keyURI = KeyURI(avIdentifier: request.identifier)
            self.purpose = purpose
            player = bridgeState.player
            number = bridgeState.last
            owner = bridgeState.owner(of: request)
            self.request = request
            self.session = session
            self.bridge = bridge
            queue = bridge.queue
            options = bridge.options
        }

        var phase: Phase { state.withLock { $0 } }
        var isClosed: Bool { if case .closed = phase { true } else { false } }
    }

    // MARK: - What the loader does

    extension SessionKeyRequest {
        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
            // The asynchronous form would trap where the completion comes twice, or with neither data nor an error.
            let reply = SingleReply<Data>()
            return try await reply.value { [request, options] in
                request.makeStreamingContentKeyRequestData(
                    forApp: certificate, contentIdentifier: contentIdentifier, options: options.keyRequest
                ) { spc, error in
                    reply.give(spc.map(Result.success) ?? .failure(error ?? ContentKeyError.noSPC))
                }
            }
        }

        func answer(_ result: Result<Data, ContentKeyError>) {
            queue.async { [self] in
                guard takeTurn(result) else { return }
                switch result {
                case .success(let key):
                    request.processContentKeyResponse(AVContentKeyResponse(fairPlayStreamingKeyResponseData: key))
                case .failure(let error): request.processContentKeyResponseError(error.nsError)
                }
            }
        }

        func renew() -> Bool {
            guard bridge?.isCurrent(session) == true else { return false }
            queue.async { [self] in session.renewExpiringResponseData(for: request) }
            return true
        }

        func ended(_ error: ContentKeyError) { bridge?.end(self, error) }

        private func takeTurn(_ result: Result<Data, ContentKeyError>) -> Bool {
            let isWanted = ![.cancelled, .failed].contains(request.status)
            return state.withLock { phase in
                guard case .open = phase else { return false }
                switch result {
                case _ where !isWanted: phase = .closed
                case .success: phase = .answered
                case .failure(let error): phase = .refused(error)
                }
                return isWanted
            }
        }
    }

    // MARK: - What the bridge does

    extension SessionKeyRequest {
        /// Has a loader answer the request.
        func start(_ loader: ContentKeyLoader) {
            if case .open = phase { slot.fill(self, from: loader) }
        }

        /// Has a persistable request take this one's place.
        /// - Throws: AVFoundation's error where keys cannot be stored; the request is still open then.
        func becomePersistable() throws {
            guard case .open = phase else { return }
            try request.requestPersistable()
            close()
        }

        /// AVFoundation wants no answer any more.
        func close() {
            state.withLock { if case .open = $0 { $0 = .closed } }
            slot.abandon()
        }

        /// The key is not needed any more: an open request is answered with `cancelled`.
        func release() {
            if !slot.release() { answer(.failure(.released)) }
        }
    }

    /// A request for a key that is stored.
    final class PersistableSessionKeyRequest: SessionKeyRequest, PersistableKeyRequest, @unchecked Sendable {
        var storedKey: StoredKeyUse { options.storedKeys }

        func persistableKey(from ckc: Data) throws -> Data {
            guard let request = request as? AVPersistableContentKeyRequest else { throw ContentKeyError.notPersistable }
            return try request.persistableContentKey(fromKeyVendorResponse: ckc, options: nil)
        }
    }
#endif
