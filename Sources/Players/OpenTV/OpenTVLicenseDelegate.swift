#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    #if canImport(OPYSDKFPSTv)
        public import OPYSDKFPSTv
    #else
        public import OPYSDKFPS
    #endif
    public import AVFoundation
    import LatchkeyCore

    /// Gives the keys of NAGRA CONNECT's players: the license delegate of its SDK, over a loader for any vendor.
    ///
    ///     OTVSDK.load()
    ///     OTVDRMManager.shared.setLicenseDelegate(OpenTVLicenseDelegate(loader) { key, error in report(error) })
    ///     let player = OTVAVPlayer(url: url)
    ///
    /// The SDK has one delegate for all players, and holds it. Renewals and secure sessions are the loader's: call its
    /// `changeSource()` when the stream ends or another begins. The SDK blocks a thread of its own until there is an answer; cancelling
    /// the loader answers. No key is nil to it, and why is said to `onError`. On the main thread, and in tasks, nothing waits: there is
    /// no key. Safe to use from any thread. Source: `player-apis.md` §6.
    public final class OpenTVLicenseDelegate: NSObject, Sendable {
        /// Hears why a key did not come, or ended: the key, where it is known, and an error with domain, number and remedy.
        public typealias ErrorHandler = @Sendable (KeyURI?, NSError) -> Void

        private let loader: ContentKeyLoader
        private let choose: @Sendable (KeyURI) -> ContentKeyLoader?
        private let deadline: Duration
        private let onError: ErrorHandler
        private let memory = DelegateMemory()

        /// - Parameters:
        ///   - loader: gets the keys, and the certificate.
        ///   - deadline: how long the SDK's thread may wait; 35 s unless given, a little more than a loader's own deadline.
        ///   - choosing: another loader for some keys, of another vendor or configuration; nil, as unless given, for `loader`. The
        ///     SDK asks for the certificate without a key, so all loaders need the same one.
        ///   - onError: called on any thread, which it must not block.
        public init(
            _ loader: ContentKeyLoader, deadline: Duration = .seconds(35),
            choosing: @escaping @Sendable (KeyURI) -> ContentKeyLoader? = { _ in nil }, onError: @escaping ErrorHandler
        ) {
            self.loader = loader
            self.deadline = deadline
            choose = choosing
            self.onError = onError
            super.init()
        }
    }

    // The SDK finds methods by their Objective-C names: all are here, in the extension that states the conformance.
    #if canImport(ObjectiveC)
        @objc
    #endif
    extension OpenTVLicenseDelegate: OTVLicenseDelegate {
        public func scheme() -> String? { "skd" }

        public func contentIdentifier(url: URL) -> Data? {
            let key = KeyURI(url.absoluteString)
            do {
                let identifier = try (choose(key) ?? loader).contentIdentifier(for: key).bytes
                memory.name(key, identifier)
                return identifier
            } catch {
                report(error, key)
                return nil
            }
        }

        public func certificate() -> Data? {
            let result = BlockedReply.wait(atMost: deadline, .certificate) { [loader] in
                try await loader.applicationCertificate().der
            }
            if case .failure(let error) = result { report(error, nil) }
            memory.certificate = try? result.get()
            return memory.certificate
        }

        /// For an SDK that does not say which key; there may be only one.
        public func ckcMessage(spc: Data) -> Data? { license(for: spc, memory.onlyKey) }

        public func ckcMessageWithID(spc: Data, assetID: String) -> Data? {
            license(for: spc, memory.key(named: assetID))
        }

        public func ckcMessageWith(
            spc: Data, assetID: String, session: AVContentKeySession, keyRequest: AVContentKeyRequest
        ) -> Data? {
            let key = KeyURI(playerIdentifier: keyRequest.identifier) ?? memory.key(named: assetID)
            return license(for: spc, key, session, keyRequest)
        }
    }

    extension OpenTVLicenseDelegate {
        private func license(
            for spc: Data, _ key: KeyURI?, _ session: AVContentKeySession? = nil, _ request: AVContentKeyRequest? = nil
        ) -> Data? {
            let result = key.map { answer($0, spc, session, request) } ?? .failure(.keyUnnamed)
            if case .failure(let error) = result { report(error, key) }
            return try? result.get()
        }

        private func answer(
            _ key: KeyURI, _ spc: Data, _ session: AVContentKeySession?, _ request: AVContentKeyRequest?
        ) -> Result<Data, ContentKeyError> {
            let loader = choose(key) ?? loader
            let certificate = loader === self.loader ? nil : memory.certificate
            let request = DelegateKeyRequest(key, spc, session, request, certificate: certificate) { [weak self] in
                self?.report($0, key)
            }
            return request.reply.wait(atMost: deadline, .license) {
                let handle = loader.answer(request)
                // A renewal that comes too late leaves the key that it was for.
                return { if request.purpose == .renewal { handle.cancel() } else { handle.release() } }
            }
        }

        private func report(_ error: ContentKeyError, _ key: KeyURI?) {
            if error.kind != .cancelled { onError(key, error.nsError) }
        }
    }

    extension ContentKeyError {
        fileprivate static let keyUnnamed = ContentKeyError(
            .keyUnnamed, "The SDK asked for a license and did not say of which key.",
            remedy: "Use a version of the SDK that calls ckcMessageWith or ckcMessageWithID.")
    }
#endif
