#if canImport(AVFoundation)
    public import AVFoundation
    @_spi(Adapters) public import Latchkey

    // Tokens and proofs about stored keys, for services, and revocation.
    nonisolated extension AVPlayerKeys {
        /// A token that states the expiration date of a stored key, for the service.
        ///
        /// Source: `Documentation/Players.md` §3.9f.
        /// - Throws: `persistableKeyFailed` if the key is not stored or AVFoundation makes no token, with its error in
        ///   `underlying`; `deadlineExceeded` if the system does not respond.
        @available(tvOS 17, *)
        public func expirationToken(for key: KeyURI) async throws(ContentKeyError) -> Data {
            let stored: Secret?
            do throws(OfflineError) { stored = try await loader.offline?.storedKey(for: key) } catch {
                throw ContentKeyError(error, stage: nil)
            }
            guard let stored else { throw .isNotStored(key) }
            return try await proof { session, reply in
                session.makeSecureTokenForExpirationDate(ofPersistableContentKey: stored.revealed) {
                    reply.give($0, $1)
                }
            }
        }

        /// Proof for the service that the device can no longer use a stored key, for example after its title was deleted.
        ///
        /// Source: `Documentation/Players.md` §3.9g.
        /// - Parameters:
        ///   - key: A key that `loader.offline` removed.
        ///   - challenge: The service's nonce, 8 bytes; `nil` by default.
        /// - Throws: `persistableKeyFailed` if AVFoundation makes no proof; `deadlineExceeded` if the system does not respond.
        @available(tvOS 17, *)
        public func proofOfRemoval(of key: RemovedKey, challenge: Data? = nil) async throws(ContentKeyError) -> Data {
            try await proof { session, reply in
                session.invalidatePersistableContentKey(key.bytes.revealed, options: Self.options(challenge)) {
                    reply.give($0, $1)
                }
            }
        }

        /// Proof for the service that the device can no longer use any stored key of the app. Also remove the keys from the
        /// store: `loader.offline.deleteAll()`.
        /// - Parameter challenge: The service's nonce, 8 bytes; `nil` by default.
        /// - Throws: The reason that there is no application certificate; and the errors of `proofOfRemoval(of:challenge:)`.
        @available(tvOS 17, *)
        public func proofOfRemovalOfAllKeys(challenge: Data? = nil) async throws(ContentKeyError) -> Data {
            let app = try await loader.applicationCertificate().bytes
            return try await proof { session, reply in
                session.invalidateAllPersistableContentKeys(forApp: app, options: Self.options(challenge)) {
                    reply.give($0, $1)
                }
            }
        }

        /// Revokes a key: playback that needs it stops, and it is not renewed.
        /// - Returns: Whether a session had the key.
        @available(iOS 17.4, tvOS 17.4, macOS 14.4, visionOS 1.1, watchOS 10.4, *)
        @discardableResult
        public func revoke(_ key: KeyURI) -> Bool {
            let held = state.withLock { state in
                state.sessions.indices.compactMap { state.sessions[$0].requests.remove(key) }
            }
            for request in held { request.revoke() }
            return !held.isEmpty
        }

        /// AVFoundation's asynchronous forms trap if the completion is called twice, or with neither data nor an error.
        private func proof(
            _ ask: @escaping @Sendable (AVContentKeySession, Promise<Data, any Error>) -> Void
        ) async throws(ContentKeyError) -> Data {
            try await loader.withinDeadline(
                "The system gave neither a proof nor an error", otherwise: .persistableKeyFailed
            ) {
                try await Promise.value { reply in
                    let isAsked = self.withNewSession { session, done in
                        reply.whenResolved { _ in done() }
                        ask(session, reply)
                    }
                    if !isAsked { reply.resolve(.failure(ContentKeyError.unsupported)) }
                }
            }
        }

        @available(tvOS 17, *)
        private static func options(_ challenge: Data?) -> [AVContentKeySessionServerPlaybackContextOption: Any]? {
            challenge.map { [.serverChallenge: $0] }
        }
    }

    nonisolated extension Promise where Value == Data, Failure == any Error {
        fileprivate func give(_ proof: Data?, _ error: (any Error)?) {
            resolve(proof.map(Result.success) ?? .failure(error ?? ContentKeyError.noProof))
        }
    }

    nonisolated extension ContentKeyError {
        fileprivate static let noProof = ContentKeyError(
            .persistableKeyFailed, "The system gave neither a proof nor an error.", remedy: "Try again.")

        fileprivate static func isNotStored(_ key: KeyURI) -> ContentKeyError {
            ContentKeyError(
                .persistableKeyFailed, "The key \(key) is not stored.", remedy: "Store it first, by StoredKeys.")
        }
    }
#endif
