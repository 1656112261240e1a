#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    #if canImport(OPYSDKFPSTv)
        public import OPYSDKFPSTv
    #else
        public import OPYSDKFPS
    #endif
    public import AVFoundation
    @_spi(Adapters) public import Latchkey

    /// Delivers keys to NAGRA CONNECT's players: the license delegate of the SDK, for any vendor.
    ///
    ///     OTVSDK.load()
    ///     OTVDRMManager.shared.setLicenseDelegate(OpenTVKeys(loader, onFailure: show))
    ///     let player = OTVAVPlayer(url: url)
    ///
    /// The SDK has one delegate for all players, and retains it. It blocks its own thread until there is an answer; cancelling
    /// the loader answers immediately. Without a key it gets `nil`, and only `onFailure` receives the reason. A call on the
    /// main thread or in a task does not wait and gets no key. Call `release()` when the stream ends or another one begins.
    /// Safe to use from any thread. Source: `Documentation/Players.md` §6.
    public nonisolated final class OpenTVKeys: NSObject, Sendable {
        private let loader: ContentKeyLoader
        private let loaderFor: @Sendable (KeyURI) -> ContentKeyLoader?
        private let assetOf: @Sendable (KeyURI) -> AssetID?
        private let deadline: Duration
        private let onFailure: @Sendable (KeyFailure) -> Void
        private let memory = DelegateMemory()
        /// The player of requests that name no session.
        private let unnamed = PlayerID("OTV \(UUID().uuidString)")

        /// - Parameters:
        ///   - loader: Gets the keys, and the certificate.
        ///   - deadline: How long the SDK's thread may wait. Defaults to 35 s, a little more than a loader's own deadline.
        ///   - loaderFor: Returns the loader of a key of another vendor or configuration, and `nil` for `loader`, which is the
        ///     default. The SDK requests the certificate without naming a key, so all loaders need the same certificate.
        ///   - assetOf: Returns the app's name for the title of a key, such as the title loaded last, used to request
        ///     credentials and carried by failures and events. Defaults to `nil` for each key. Called on any thread.
        ///   - onFailure: Receives the reason that a key was not delivered or ended; not called for cancellations. Called on
        ///     any thread, which it must not block.
        public init(
            _ loader: ContentKeyLoader, deadline: Duration = .seconds(35),
            loaderFor: @escaping @Sendable (KeyURI) -> ContentKeyLoader? = { _ in nil },
            assetOf: @escaping @Sendable (KeyURI) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.loader = loader
            self.deadline = deadline
            self.loaderFor = loaderFor
            self.assetOf = assetOf
            self.onFailure = onFailure
            super.init()
        }

        /// Releases the keys of all players: open requests end with `cancelled`, and no key is renewed.
        ///
        /// A secure session of the vendor ends with its last key.
        public func release() {
            memory.take { _ in true }
        }

        /// Releases the keys of players whose only title is this one; other players keep theirs.
        public func release(_ asset: AssetID) { memory.take { $0.assets == [asset] } }

        /// Pauses renewals and heartbeats until `resume()`, for an app in the background that does not play.
        public func suspend() { for player in memory.setSuspended(true) { player.loader.suspend(player.id) } }

        /// Resumes renewals after `suspend()`. An overdue renewal is made once.
        public func resume() { for player in memory.setSuspended(false) { player.loader.resume(player.id) } }
    }

    // The SDK finds methods by their Objective-C names. All are in the extension that declares the conformance.
    nonisolated extension OpenTVKeys: OTVLicenseDelegate {
        public func scheme() -> String? { "skd" }

        public func contentIdentifier(url: URL) -> Data? {
            let key = KeyURI(url.absoluteString)
            do {
                let identifier = try (loaderFor(key) ?? loader).contentIdentifier(for: key).bytes
                memory.name(key, identifier)
                return identifier
            } catch {
                report(error, key)
                return nil
            }
        }

        public func certificate() -> Data? {
            let result = BlockedReply.wait(atMost: deadline, .certificate) { [loader] in
                try await loader.applicationCertificate().bytes
            }
            if case .failure(let error) = result { report(error, nil) }
            memory.certificate = try? result.get()
            return memory.certificate
        }

        /// For a version of the SDK that does not name the key, and for streams with only one key.
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

    nonisolated extension OpenTVKeys {
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
            let loader = loaderFor(key) ?? loader
            let certificate = loader === self.loader ? nil : memory.certificate
            let request = DelegateKeyRequest(
                key, spc, session, request, of: assetOf(key), certificate: certificate, unnamed: unnamed
            ) { [weak self] in
                self?.report($0, key)
            }
            memory.note(request, in: session, of: loader)
            return request.reply.wait(atMost: deadline, .license) {
                let handle = loader.answer(request)
                // A late renewal leaves its key in place.
                return { if request.purpose == .renewal { handle.cancel() } else { handle.release() } }
            }
        }

        private func report(_ error: ContentKeyError, _ key: KeyURI?) {
            if error.isReportable { onFailure(KeyFailure(error, key: key, asset: key.flatMap(assetOf))) }
        }
    }

    nonisolated extension ContentKeyError {
        fileprivate static let keyUnnamed = ContentKeyError(
            .keyUnnamed, "The SDK asked for a license and did not say of which key.",
            remedy: "Use a version of the SDK that calls ckcMessageWith or ckcMessageWithID.")
    }
#endif
