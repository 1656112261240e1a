#if canImport(AVFoundation)
    import AVFoundation
    @_spi(Adapters) import Latchkey

    /// A content key session's request, in the form that the loader uses. It is answered once, on the queue of `AVPlayerKeys`,
    /// and only as long as AVFoundation expects an answer.
    ///
    /// It keeps the session, because using a request without a session raises an exception.
    // Sound: constants of sendable types, a weak reference that is set once, and a reply with a lock. Not final, because
    // `PersistableSessionKeyRequest` inherits from it.
    nonisolated class SessionKeyRequest: ReplyingKeyRequest, @unchecked Sendable {
        let keyURI: KeyURI
        let purpose: KeyPurpose
        let player: PlayerID
        private let title: Locked<AssetID?>
        let request: AVContentKeyRequest
        let session: AVContentKeySession
        private weak var keys: AVPlayerKeys?
        private let queue: DispatchQueue
        fileprivate let options: AVPlayerKeys.Options
        let reply = PlayerReply()

        init(
            _ request: AVContentKeyRequest, _ keyURI: KeyURI, for purpose: KeyPurpose, in session: AVContentKeySession,
            of keys: AVPlayerKeys, _ player: PlayerID, _ asset: AssetID?
        ) {
            self.keyURI = keyURI
            self.purpose = purpose
            title = Locked(asset)
            self.player = player
            self.request = request
            self.session = session
            self.keys = keys
            queue = keys.queue
            options = keys.options
        }
    }

    // MARK: - Called by the loader

    nonisolated extension SessionKeyRequest {
        var asset: AssetID? { title.withLock { $0 } }

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
            guard let spc = try await makeOptionalSPC(certificate: certificate, contentIdentifier: contentIdentifier)
            else { throw ContentKeyError.noSPC }
            return spc
        }

        func makeOptionalSPC(certificate: Data, contentIdentifier: Data) async throws -> Data? {
            do { return try await spc(certificate, contentIdentifier, options.spcOptions(for: keyURI)) } catch {
                guard options.callsForStandardIdentifier(error) else { throw error }
                return try await spc(certificate, contentIdentifier, options.appOptions(for: keyURI))
            }
        }

        private func spc(
            _ certificate: Data, _ contentIdentifier: Data, _ options: [String: any Sendable]
        ) async throws -> Data? {
            try await Promise.value { reply in
                request.makeSPC(session, certificate, contentIdentifier, options) { reply.resolve($0) }
            }
        }

        func answer(_ result: Result<Data, ContentKeyError>) {
            queue.async { [self] in
                guard ![.cancelled, .failed].contains(request.status) else {
                    // Otherwise the loader would keep renewing the delivered key.
                    if case .success = result { discard() }
                    // An expired session does not report the outcome of its requests.
                    keys?.fail(request, request.error ?? SessionKeyRequest.cancellation, in: session)
                    return reply.abandon()
                }
                guard reply.resolve(result) else { return }
                switch result {
                case .success(let key):
                    request.processContentKeyResponse(AVContentKeyResponse(fairPlayStreamingKeyResponseData: key))
                case .failure(let error): request.processContentKeyResponseError(error.nsError)
                }
            }
        }

        func renew() -> Bool {
            guard let keys, keys.hasUser(session) else { return false }
            queue.async { [self] in
                // A session expires on this queue, after it is no longer in use.
                guard keys.isCurrent(session) else { return }
                session.renewExpiringResponseData(for: (keys.taken(keyURI, in: session) ?? self).request)
            }
            return true
        }

        func keysInPlaylists() async -> Set<KeyURI>? { await keys?.keysInPlaylists(of: session) }

        func ended(_ error: ContentKeyError) { keys?.report(error, self) }

        private static var cancellation: NSError {
            NSError(domain: AVFoundationErrorDomain, code: AVError.Code.operationCancelled.rawValue)
        }
    }

    // MARK: - Called by AVPlayerKeys

    nonisolated extension SessionKeyRequest {
        /// Names the title if it is unknown, before the loader gets the request.
        func name(_ asset: AssetID) { title.withLock { $0 = $0 ?? asset } }

        /// Revokes and releases the key.
        @available(iOS 17.4, tvOS 17.4, macOS 14.4, visionOS 1.1, watchOS 10.4, *)
        func revoke() {
            request.contentKey?.revoke()
            release()
        }

        /// Replaces this request with a persistable one.
        /// - Throws: AVFoundation's error if the key cannot be stored; this request is still open then.
        func becomePersistable() throws {
            guard reply.state.isPending else { return }
            try request.requestPersistable()
            reply.abandon()
        }
    }

    /// A request for a stored key.
    nonisolated final class PersistableSessionKeyRequest: SessionKeyRequest, PersistableKeyRequest, @unchecked Sendable
    {
        var storedKey: StoredKeyUse { options.storedKeys }

        func persistableKey(from ckc: Data) throws -> Data {
            guard let request = request as? AVPersistableContentKeyRequest else { throw ContentKeyError.notPersistable }
            return try request.persistableContentKey(fromKeyVendorResponse: ckc, options: nil)
        }
    }
#endif
