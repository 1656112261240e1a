#if canImport(THEOplayerSDK)
    import Foundation
    @_spi(Adapters) import Latchkey
    import THEOplayerSDK

    /// The keys of one source, with requests that the loader sends.
    ///
    /// Every answer goes straight to THEOplayer, which sends no requests, so the response hooks keep their defaults. THEOplayer holds it
    /// as long as the source; when it is deallocated it ends open requests and releases its keys. Safe to use from any thread.
    // Sound: `latest` is only accessed while the lock is held; the rest are constants.
    nonisolated final class LoaderIntegration: ContentProtectionIntegration, @unchecked Sendable {
        private let keys: Result<PlayerKeys, ContentKeyError>
        private let purpose: KeyPurpose?
        private let asset: AssetID?
        /// Reports a failure to the app, and returns the error for THEOplayer. Neither it nor the callbacks retain the integration.
        private let report: @Sendable (ContentKeyError, KeyURI?) -> NSError
        private let lock = NSLock()
        private var latest: KeyURI?

        /// - Parameters:
        ///   - loader: Gets the keys; or the reason that there is none, which then answers every request.
        ///   - purpose: `persistable` if THEOplayer stores the keys; `nil` to play them.
        ///   - asset: The title of the source. Defaults to `nil`: unknown.
        init(
            _ loader: Result<ContentKeyLoader, ContentKeyError>, _ purpose: KeyPurpose?, of asset: AssetID? = nil,
            _ onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            keys = loader.map { PlayerKeys($0, ended: onFailure) }
            self.purpose = purpose
            self.asset = asset
            report = { error, key in
                if error.isReportable { onFailure(KeyFailure(error, key: key, asset: asset)) }
                return error.nsError
            }
        }

        deinit { playerKeys?.release() }

        /// The keys; `nil` if the source has no loader.
        var playerKeys: PlayerKeys? { if case .success(let keys) = keys { keys } else { nil } }

        #if THEOPLAYER_4
            func extractFairplayContentId(skdUrl: String) -> String { contentIdentifierText(for: skdUrl) }
        #else
            func onExtractFairplayContentId(skdUrl: String, callback: any ExtractContentIdCallback) {
                do throws(ContentKeyError) {
                    callback.respond(contentID: try contentIdentifier(for: skdUrl).bytes)
                } catch {
                    callback.error(error: report(error, KeyURI(skdUrl)))
                }
            }
        #endif

        func onCertificateRequest(request: CertificateRequest, callback: any CertificateRequestCallback) {
            // Sound: called once, and THEOplayer documents no threading rule.
            nonisolated(unsafe) let callback = callback
            let answer: @Sendable (Result<Data, ContentKeyError>) -> Void = { [report] result in
                switch result {
                case .success(let certificate): callback.respond(certificate: certificate)
                case .failure(let error): callback.error(error: report(error, nil))
                }
            }
            switch keys {
            case .failure(let error): answer(.failure(error))
            case .success(let keys): keys.certificate(completion: answer)
            }
        }

        func onLicenseRequest(request: LicenseRequest, callback: any LicenseRequestCallback) {
            // Sound: as above.
            nonisolated(unsafe) let callback = callback
            // If the request names no key, it is for the last named one.
            let named = request.fairplaySkdUrl.map { KeyURI($0) } ?? lock.withLock { latest }
            guard let key = named else { return callback.error(error: report(.keyUnnamed, nil)) }
            guard !request.wantsCookies else { return callback.error(error: report(.cookies, key)) }
            let answer: @Sendable (Result<PlayerLicense, ContentKeyError>) -> Void = { [report] result in
                switch result {
                case .success(let license): callback.respond(license: license.ckc)
                case .failure(let error): callback.error(error: report(error, key))
                }
            }
            switch keys {
            case .failure(let error): answer(.failure(error))
            case .success(let keys):
                keys.license(
                    for: request.body ?? Data(), key: key, purpose: purpose, asset: asset, completion: answer)
            }
        }

        /// The content identifier in version 4's form: a text, without an error.
        ///
        /// If there is none, or it is not text, this is the key's URI, and the license request finds the same error and reports it.
        func contentIdentifierText(for url: String) -> String {
            (try? contentIdentifier(for: url)).flatMap { String(data: $0.bytes, encoding: .utf8) } ?? url
        }

        private func contentIdentifier(for url: String) throws(ContentKeyError) -> ContentIdentifier {
            let key = KeyURI(url)
            lock.withLock { latest = key }
            return try keys.get().loader.contentIdentifier(for: key)
        }
    }

    nonisolated extension ContentKeyError {
        static let keyUnnamed = ContentKeyError(
            .keyUnnamed, stage: .license, "THEOplayer asked for a license without naming the key.")

        fileprivate static let cookies = ContentKeyError(
            .unfitForPlayer, stage: .license,
            "The source wants cookies with its license request, which the loader sends without.",
            remedy: "Have the player send the requests: make the keys with sentBy: .player.")
    }
#endif
