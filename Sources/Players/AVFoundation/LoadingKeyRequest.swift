#if canImport(AVFoundation) && !os(watchOS)
    import AVFoundation
    import LatchkeyCore

    /// A key request of a resource loader as the key loader sees it: finished once, on the bridge's queue, unless AVFoundation gave
    /// it up.
    final class LoadingKeyRequest: SlottedKeyRequest, Sendable {
        let keyURI: KeyURI
        let purpose: KeyPurpose
        let player: PlayerID
        /// The resource loader that asks.
        let source: ObjectIdentifier
        let request: AVAssetResourceLoadingRequest
        private weak let bridge: ResourceLoaderBridge?
        private let queue: DispatchQueue
        private let renewal = Locked<Date?>(nil)
        let slot = KeyRequestSlot()

        init(
            _ request: AVAssetResourceLoadingRequest, _ key: KeyURI, for purpose: KeyPurpose,
            of source: AVAssetResourceLoader, _ bridge: ResourceLoaderBridge
        ) {
            self.request = request
            keyURI = key
            self.purpose = purpose
            self.source = ObjectIdentifier(source)
            player = bridge.player(of: source)
            self.bridge = bridge
            queue = bridge.queue
        }

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
            try await makeSPC(certificate, contentIdentifier, options: nil)
        }

        func renewalPlanned(at date: Date) { renewal.withLock { $0 = date } }

        func answer(_ result: Result<Data, ContentKeyError>) {
            finish(result, type: AVStreamingKeyDeliveryContentKeyType)
        }

        /// AVFoundation asks again at the date that it was told.
        func renew() -> Bool { renewal.withLock { $0 } != nil && request.contentInformationRequest != nil }

        func ended(_ error: ContentKeyError) { bridge?.notify(KeyFailure(error, key: keyURI)) }
    }

    // MARK: - Both ways to finish

    extension LoadingKeyRequest {
        /// The call makes the SPC on the thread that it is called on, which is one that may wait.
        fileprivate func makeSPC(
            _ certificate: Data, _ contentIdentifier: Data, options: [String: any Sendable]?
        ) async throws -> Data {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global(qos: .userInitiated).async { [request] in
                    continuation.resume(
                        with: Result {
                            try request.streamingContentKeyRequestData(
                                forApp: certificate, contentIdentifier: contentIdentifier, options: options)
                        })
                }
            }
        }

        fileprivate func finish(_ result: Result<Data, ContentKeyError>, type: String) {
            queue.async { [self] in
                guard slot.takeTurn(result), !request.isCancelled, !request.isFinished else { return }
                bridge?.finished(self, with: result)
                switch result {
                case .success(let key):
                    request.contentInformationRequest?.contentType = type
                    request.contentInformationRequest?.renewalDate = renewal.withLock { $0 }
                    request.dataRequest?.respond(with: key)
                    request.finishLoading()
                case .failure(let error):
                    // The app hears of it first, and knows why when its player fails.
                    if error.kind != .cancelled { bridge?.notify(KeyFailure(error, key: keyURI)) }
                    request.finishLoading(with: error.nsError)
                }
            }
        }
    }

    // MARK: - What the bridge does

    extension LoadingKeyRequest {
        /// Has a loader answer the request with a key that it stores.
        func startStoring(_ loader: ContentKeyLoader) {
            guard slot.phase.isOpen else { return }
            slot.fill(StoredLoadingKeyRequest(base: self, loader: loader), from: loader)
        }
    }

    /// The same request for a key that is stored. AVFoundation learns of it with the SPC; where it refuses, the key is streamed.
    private struct StoredLoadingKeyRequest: PersistableKeyRequest {
        let base: LoadingKeyRequest
        let loader: ContentKeyLoader

        var keyURI: KeyURI { base.keyURI }
        var player: PlayerID { base.player }

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
