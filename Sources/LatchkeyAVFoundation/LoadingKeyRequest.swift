#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    @_spi(Adapters) import Latchkey

    /// A resource loader's key request, in the form that the key loader uses. It is finished once, on the queue of
    /// `ResourceLoaderKeys`, unless AVFoundation cancelled it.
    // Sound: constants, and a weak reference that is set once; AVFoundation accepts answers on any thread.
    nonisolated final class LoadingKeyRequest: ReplyingKeyRequest, @unchecked Sendable {
        let keyURI: KeyURI
        let purpose: KeyPurpose
        let player: PlayerID
        private let title: Locked<AssetID?>
        /// The requesting resource loader, which is deallocated with its asset.
        private weak var source: AVAssetResourceLoader?
        let request: AVAssetResourceLoadingRequest
        private weak var keys: ResourceLoaderKeys?
        private let queue: DispatchQueue
        private let renewal = Locked<Date?>(nil)
        let reply = PlayerReply()

        init(
            _ request: AVAssetResourceLoadingRequest, _ key: KeyURI, for purpose: KeyPurpose,
            of source: AVAssetResourceLoader, _ asset: AssetID?, _ keys: ResourceLoaderKeys
        ) {
            self.request = request
            keyURI = key
            self.purpose = purpose
            self.source = source
            title = Locked(asset)
            player = keys.player(of: source)
            self.keys = keys
            queue = keys.queue
        }

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
            try await makeSPC(certificate, contentIdentifier, options: nil)
        }

        var asset: AssetID? { title.withLock { $0 } }

        /// Names the title if it is unknown, before the loader gets the request.
        func name(_ asset: AssetID) { title.withLock { $0 = $0 ?? asset } }

        func renewalPlanned(at date: Date) { renewal.withLock { $0 = date } }

        func answer(_ result: Result<Data, ContentKeyError>) {
            finish(result, type: AVStreamingKeyDeliveryContentKeyType)
        }

        /// AVFoundation asks again at the renewal date in the answer, if the asset still exists.
        func renew() -> Bool {
            if source == nil { keys?.release(player) }
            return source != nil && renewal.withLock { $0 } != nil && request.contentInformationRequest != nil
        }

        func ended(_ error: ContentKeyError) {
            if source != nil { keys?.onFailure(KeyFailure(error, key: keyURI, asset: asset)) }
        }
    }

    // MARK: - Used by streamed and stored keys

    nonisolated extension LoadingKeyRequest {
        /// AVFoundation's call blocks its thread, so it runs on one that may wait. A cancelled task stops waiting for it.
        fileprivate func makeSPC(
            _ certificate: Data, _ contentIdentifier: Data, options: [String: any Sendable]?
        ) async throws -> Data {
            try await Promise.value { spc in
                DispatchQueue.global(qos: .userInitiated).async { [self] in
                    spc.resolve(
                        Result {
                            try request.streamingContentKeyRequestData(
                                forApp: certificate, contentIdentifier: contentIdentifier, options: options)
                        })
                }
            }
        }

        fileprivate func finish(_ result: Result<Data, ContentKeyError>, type: String) {
            queue.async { [self] in
                guard reply.resolve(result), !request.isCancelled, !request.isFinished else { return }
                keys?.finished(self)
                switch result {
                case .success(let key):
                    request.contentInformationRequest?.contentType = type
                    request.contentInformationRequest?.renewalDate = renewal.withLock { $0 }
                    request.dataRequest?.respond(with: key)
                    request.finishLoading()
                case .failure(let error):
                    // Reported to the app first, so that it knows the reason when its player fails.
                    if error.isReportable { keys?.onFailure(KeyFailure(error, key: keyURI, asset: asset)) }
                    request.finishLoading(with: error.nsError)
                }
            }
        }
    }

    // MARK: - Called by ResourceLoaderKeys

    nonisolated extension LoadingKeyRequest {
        /// Answers the request with a stored key through a loader, or stores a new one.
        func startStoring(_ loader: ContentKeyLoader) {
            guard reply.state.isPending else { return }
            reply.attach(loader.answer(StoredLoadingKeyRequest(base: self, loader: loader)))
        }
    }

    /// The same request for a stored key, as its SPC's options state; if AVFoundation rejects them, the key is streamed.
    private nonisolated struct StoredLoadingKeyRequest: PersistableKeyRequest {
        let base: LoadingKeyRequest
        let loader: ContentKeyLoader

        var keyURI: KeyURI { base.keyURI }
        var player: PlayerID { base.player }
        var asset: AssetID? { base.asset }

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
            try await base.makeSPC(
                certificate, contentIdentifier,
                options: [AVAssetResourceLoadingRequestStreamingContentKeyRequestRequiresPersistentKey: true])
        }

        func persistableKey(from ckc: Data) throws -> Data {
            try base.request.persistentContentKey(fromKeyVendorResponse: ckc, options: nil)
        }

        func answer(_ result: Result<Data, ContentKeyError>) {
            if case .failure(let error) = result, error.kind == .spcFailed { return base.start(loader) }
            base.finish(result, type: AVStreamingKeyDeliveryPersistentContentKeyType)
        }
    }
#endif
