#if canImport(THEOplayerSDK)
    import Foundation
    @_spi(Adapters) import Latchkey
    import THEOplayerSDK

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The keys of one source, with requests that THEOplayer sends, as in its guides: this class prepares each request and
    /// reads each response.
    ///
    /// It requests credentials before each request. Safe to use from any thread.
    // Sound: `latest` and `latestKey` are only accessed while the lock is held; the rest are constants.
    nonisolated final class PlayerIntegration: ContentProtectionIntegration, @unchecked Sendable {
        private let vendor: Result<ConfiguredVendor, ContentKeyError>
        private let source: THEOplayerSource
        private let credentials: Credentials
        private let hosts: HostPolicy
        private let onFailure: @Sendable (KeyFailure) -> Void
        private let lock = NSLock()
        private var latest: PreparedExchange?
        private var latestKey: String?

        init(
            _ vendor: Result<ConfiguredVendor, ContentKeyError>, _ source: THEOplayerSource, _ credentials: Credentials,
            hosts: HostPolicy, onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.vendor = vendor
            self.source = source
            self.credentials = credentials
            self.hosts = hosts
            self.onFailure = onFailure
        }

        #if THEOPLAYER_4
            func extractFairplayContentId(skdUrl: String) -> String {
                // The license request finds the same error and reports it.
                (try? identifier(skdUrl)).flatMap { String(data: $0, encoding: .utf8) } ?? skdUrl
            }
        #else
            func onExtractFairplayContentId(skdUrl: String, callback: any ExtractContentIdCallback) {
                do { callback.respond(contentID: try identifier(skdUrl)) } catch {
                    callback.error(error: report(error, skdUrl))
                }
            }
        #endif

        func onCertificateRequest(request: CertificateRequest, callback: any CertificateRequestCallback) {
            prepare(callback.error, nil) { [self] exchange in
                if let certificate = exchange.bundledCertificate { return callback.respond(certificate: certificate) }
                guard let certificateRequest = exchange.certificateRequest else { throw ContentKeyError.noCertificate }
                request.take(source.decorated(certificateRequest))
                callback.request(request: request)
            }
        }

        func onCertificateResponse(response: CertificateResponse, callback: any CertificateResponseCallback) {
            read(callback.error, nil) {
                callback.respond(certificate: try $0.certificate(from: response.reply))
            }
        }

        func onLicenseRequest(request: LicenseRequest, callback: any LicenseRequestCallback) {
            // If the request names no key, it is for the last named one.
            let key = request.fairplaySkdUrl ?? lock.withLock { latestKey }
            prepare(callback.error, key) { [self] exchange in
                guard let key else { throw ContentKeyError.keyUnnamed }
                var prepared = URLRequest(url: try exchange.licenseURL(for: KeyURI(key)))
                prepared.httpMethod = "POST"
                for (name, value) in exchange.licenseHeaders { prepared.setValue(value, forHTTPHeaderField: name) }
                let spc = SPCMessage(request.body ?? Data())
                request.body = try exchange.licenseBody(for: spc, key: KeyURI(key))
                request.take(source.decorated(prepared))
                callback.request(request: request)
            }
        }

        func onLicenseResponse(response: LicenseResponse, callback: any LicenseResponseCallback) {
            read(callback.error, (response.request as? LicenseRequest)?.fairplaySkdUrl) {
                callback.respond(license: try $0.license(from: response.reply))
            }
        }
    }

    nonisolated extension PlayerIntegration {
        private func identifier(_ key: String) throws -> Data {
            lock.withLock { latestKey = key }
            return try vendor.get().profile.contentIdentifier(for: KeyURI(key)).bytes
        }

        /// Gets credentials, and then runs a closure with the requests that use them.
        private func prepare(
            _ fail: @escaping (any Error) -> Void, _ key: String?, _ body: @escaping (PreparedExchange) throws -> Void
        ) {
            // Sound: only this task calls them, once each, and THEOplayer documents no threading rule.
            nonisolated(unsafe) let fail = fail
            nonisolated(unsafe) let body = body
            Task {
                do {
                    let exchange = try await PreparedExchange(
                        vendor.get(), credentials: credentials, hosts: hosts, key: key.map { KeyURI($0) },
                        asset: source.asset)
                    lock.withLock { latest = exchange.following(latest) }
                    try body(exchange)
                } catch {
                    fail(report(error, key))
                }
            }
        }

        private func read(
            _ fail: (any Error) -> Void, _ key: String?, _ body: (PreparedExchange) throws -> Void
        ) {
            do {
                guard let exchange = lock.withLock({ latest }) else { throw ContentKeyError.noRequest }
                try body(exchange)
            } catch {
                fail(report(error, key))
            }
        }

        private func report(_ error: any Error, _ key: String?) -> NSError {
            let error = error as? ContentKeyError ?? ContentKeyError(setup: error)
            if error.isReportable { onFailure(KeyFailure(error, key: key.map { KeyURI($0) }, asset: source.asset)) }
            return error.nsError
        }
    }

    nonisolated extension Request {
        /// Copies the URL, the method and the header fields of a request. The fields replace fields of the same name.
        fileprivate func take(_ request: URLRequest) {
            url = request.url?.absoluteString ?? url
            method = request.httpMethod ?? method
            for (name, value) in request.allHTTPHeaderFields ?? [:] {
                headers = headers.filter { $0.key.lowercased() != name.lowercased() }
                headers[name] = value
            }
        }
    }

    nonisolated extension Response {
        fileprivate var reply: HTTPReply {
            HTTPReply(
                url: URL(string: url), status: status, headers: headers.map { (name: $0, value: $1) }, body: body)
        }
    }

    nonisolated extension ContentKeyError {
        fileprivate static let noCertificate = ContentKeyError(
            .certificateMissing, stage: .certificate,
            "The source has no application certificate and no address of one.",
            remedy: "Give the source's configuration a certificateURL.")
        fileprivate static let noRequest = ContentKeyError(
            .integrationFailed, "THEOplayer has a response to a request that the integration did not make.",
            remedy: "Leave both hooks of a request to this integration.")
    }
#endif
