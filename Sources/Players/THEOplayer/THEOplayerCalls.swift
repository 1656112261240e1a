#if canImport(THEOplayerSDK)
    import Foundation
    import Latchkey
    import THEOplayerSDK

    /// What THEOplayer asks of an integration for the keys of one source. The loader does the requests, and every answer goes
    /// straight to the player: THEOplayer sends nothing, so its response hooks keep their defaults.
    // Sound: what changes is in `latest`, behind a lock.
    final class THEOplayerCalls: @unchecked Sendable {
        private let keys: Result<PlayerKeys, ContentKeyError>
        private let purpose: KeyPurpose?
        private let lock = NSLock()
        private var latest: KeyURI?

        /// - Parameters:
        ///   - loader: gets the keys; or why there is none, which is then the answer to everything.
        ///   - purpose: what the keys are wanted for; nil to play, and to go on playing.
        init(
            _ loader: Result<ContentKeyLoader, ContentKeyError>, _ purpose: KeyPurpose?,
            _ onError: @escaping THEOplayerErrorListener
        ) {
            keys = loader.map { PlayerKeys($0) { onError($1, $0) } }
            self.purpose = purpose
        }

        deinit { try? keys.get().release() }

        func contentIdentifier(for url: String) throws(ContentKeyError) -> ContentIdentifier {
            let key = KeyURI(url)
            lock.withLock { latest = key }
            return try keys.get().loader.contentIdentifier(for: key)
        }

        func certificate(_ callback: any CertificateRequestCallback) {
            // Sound: called once, and THEOplayer says nothing about threads.
            nonisolated(unsafe) let callback = callback
            switch keys {
            case .failure(let error): callback.error(error: error.nsError)
            case .success(let keys):
                keys.certificate {
                    switch $0 {
                    case .success(let certificate): callback.respond(certificate: certificate)
                    case .failure(let error): callback.error(error: error.nsError)
                    }
                }
            }
        }

        func license(_ request: LicenseRequest, _ callback: any LicenseRequestCallback) {
            // Sound: as above.
            nonisolated(unsafe) let callback = callback
            // The last one that was named, where the request says nothing.
            let named = request.fairplaySkdUrl.map { KeyURI($0) } ?? lock.withLock { latest }
            guard let key = named else { return callback.error(error: ContentKeyError.keyUnnamed.nsError) }
            switch keys {
            case .failure(let error): callback.error(error: error.nsError)
            case .success(let keys):
                keys.license(for: request.body ?? Data(), key: key, purpose: purpose) {
                    switch $0 {
                    case .success(let license): callback.respond(license: license.ckc)
                    case .failure(let error): callback.error(error: error.nsError)
                    }
                }
            }
        }
    }

    extension ContentKeyError {
        fileprivate static let keyUnnamed = ContentKeyError(
            .keyUnnamed, stage: .license, "THEOplayer asked for a license without naming the key.",
            remedy: "State the key's URI in the playlist's EXT-X-KEY tag.")
    }
#endif
