#if canImport(AVFoundation)
    import AVFoundation
    import LatchkeyCore

    /// A key request of a session as the loader sees it: answered once, on the bridge's queue, and only while AVFoundation wants it.
    ///
    /// Keeps the session, because touching a request that has none is an exception.
    // Sound: constants of sendable types, and a slot that locks. Not final, because a persistable request is one too.
    class SessionKeyRequest: SlottedKeyRequest, @unchecked Sendable {
        let keyURI: KeyURI
        let purpose: KeyPurpose
        let player: PlayerID
        let request: AVContentKeyRequest
        let session: AVContentKeySession
        private weak let bridge: ContentKeySessionBridge?
        private let queue: DispatchQueue
        fileprivate let options: ContentKeySessionOptions
        let slot = KeyRequestSlot()

        init(
            _ request: AVContentKeyRequest, for purpose: KeyPurpose, in session: AVContentKeySession,
            of bridge: ContentKeySessionBridge, _ player: PlayerID
        ) {
            keyURI = KeyURI(playerIdentifier: request.identifier) ?? ""
            self.purpose = purpose
            self.player = player
            self.request = request
            self.session = session
            self.bridge = bridge
            queue = bridge.queue
            options = bridge.options
        }
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
                guard ![.cancelled, .failed].contains(request.status) else { return slot.abandon() }
                guard slot.takeTurn(result) else { return }
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
    }

    // MARK: - What the bridge does

    extension SessionKeyRequest {
        /// Has a persistable request take this one's place.
        /// - Throws: AVFoundation's error where keys cannot be stored; the request is still open then.
        func becomePersistable() throws {
            guard slot.phase.isOpen else { return }
            try request.requestPersistable()
            slot.abandon()
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
