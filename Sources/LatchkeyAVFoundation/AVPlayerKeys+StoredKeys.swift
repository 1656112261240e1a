#if canImport(AVFoundation)
    public import AVFoundation
    @_spi(Adapters) public import Latchkey

    // Tokens and proofs about stored keys, for services, and revocation.
    nonisolated extension AVPlayerKeys {
        /// A token from which the service reads when a stored key expires.
        ///
        /// Source: `Documentation/Players.md` §3.9f.
        /// - Throws: `ContentKeyError` `persistableKeyFailed` if the key is not stored, `deadlineExceeded` if the system does not answer;
        ///   AVFoundation's error if it makes no token.
        @available(tvOS 17, *)
        public func expirationToken(for key: KeyURI) async throws -> Data {
            guard let stored = try await loader.offline?.storedKey(for: key) else {
                throw ContentKeyError.isNotStored(key)
            }
            return try await proof { session, reply in
                session.makeSecureTokenForExpirationDate(ofPersistableContentKey: stored.revealed) {
                    reply.give($0, $1)
                }
            }
        }

        /// A proof for the service that the device can no longer use a stored key, for example after its title was deleted.
        ///
        /// Source: `Documentation/Players.md` §3.9g.
        /// - Parameters:
        ///   - key: A key that `loader.offline` removed.
        ///   - challenge: The service's nonce, 8 bytes. Defaults to none.
        /// - Throws: AVFoundation's error if it makes no proof; `ContentKeyError` `deadlineExceeded` if the system does not answer.
        @available(tvOS 17, *)
        public func proofOfRemoval(of key: RemovedKey, challenge: Data? = nil) async throws -> Data {
            try await proof { session, reply in
                session.invalidatePersistableContentKey(key.bytes.revealed, options: Self.options(challenge)) {
                    reply.give($0, $1)
                }
            }
        }

        /// A proof for the service that the device can no longer use any stored key of the app. Also remove the keys from the store:
        /// `loader.offline.deleteAll()`.
        /// - Parameter challenge: The service's nonce, 8 bytes. Defaults to none.
        /// - Throws: `ContentKeyError` if there is no application certificate or the system does not answer; AVFoundation's error if it makes
        ///   no proof.
        @available(tvOS 17, *)
        public func proofOfRemovalOfAllKeys(challenge: Data? = nil) async throws -> Data {
            let app = try await loader.applicationCertificate().der
            return try await proof { session, reply in
                session.invalidateAllPersistableContentKeys(forApp: app, options: Self.options(challenge)) {
                    reply.give($0, $1)
                }
            }
        }

        /// Revokes a key: playback that needs it stops, and it is not renewed.
        /// - Returns: Whether the session had the key.
        @available(iOS 17.4, tvOS 17.4, macOS 14.4, visionOS 1.1, watchOS 10.4, *)
        @discardableResult
        public func revoke(_ key: KeyURI) -> Bool {
            guard let holder = state.withLock({ $0.requests.remove(key) }) else { return false }
            holder.request.contentKey?.revoke()
            holder.release()
            return true
        }

        /// AVFoundation's asynchronous forms trap if the completion comes twice, or with neither data nor an error.
        private func proof(
            _ ask: @escaping @Sendable (AVContentKeySession, Promise<Data, any Error>) -> Void
        ) async throws -> Data {
            try await loader.withinDeadline("The system gave neither a proof nor an error") {
                try await Promise.value { reply in
                    if !self.withSession({ ask($0, reply) }) { reply.resolve(.failure(ContentKeyError.unsupported)) }
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
