#if canImport(AVFoundation)
    public import AVFoundation
    @_spi(Adapters) import Latchkey

    // AVFoundation finds optional methods by their Objective-C names and never calls a misspelled one. So all are in the
    // extension that declares the conformance, and a test drives each of them.
    nonisolated extension AVPlayerKeys: AVContentKeySessionDelegate {
        public func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
            take(keyRequest, for: .streaming, in: session)
        }

        public func contentKeySession(
            _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest
        ) {
            take(keyRequest, for: .renewal, in: session)
        }

        public func contentKeySession(
            _ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest
        ) {
            take(keyRequest, for: .persistable, in: session)
        }

        public func contentKeySession(
            _ session: AVContentKeySession, didProvide keyRequests: [AVContentKeyRequest],
            forInitializationData initializationData: Data?
        ) {
            for request in keyRequests {
                take(request, for: request is AVPersistableContentKeyRequest ? .persistable : .streaming, in: session)
            }
        }

        public func contentKeySession(
            _ session: AVContentKeySession, didUpdatePersistableContentKey persistableContentKey: Data,
            forContentKeyIdentifier keyIdentifier: Any
        ) {
            let key = KeyURI(playerIdentifier: keyIdentifier) ?? ""
            loader.offline?.updated(key, to: Secret(persistableContentKey))
            loader.licenseCache?.updated(key, to: Secret(persistableContentKey))
        }

        public func contentKeySession(
            _ session: AVContentKeySession, contentKeyRequestDidSucceed keyRequest: AVContentKeyRequest
        ) {
            succeed(keyRequest, in: session)
        }

        public func contentKeySession(
            _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
            didFailWithError err: any Error
        ) {
            fail(keyRequest, err, in: session)
        }

        public func contentKeySession(
            _ session: AVContentKeySession, shouldRetry keyRequest: AVContentKeyRequest,
            reason retryReason: AVContentKeyRequest.RetryReason
        ) -> Bool {
            mayRetry(keyRequest, retryReason, in: session)
        }

        public func contentKeySessionContentProtectionSessionIdentifierDidChange(_ session: AVContentKeySession) {
            guard isCurrent(session) else { return }
            onNotice(.sessionIdentifierChanged(session.contentProtectionSessionIdentifier))
        }

        public func contentKeySessionDidGenerateExpiredSessionReport(_ session: AVContentKeySession) {
            onNotice(.reportsPending)
        }

        #if !os(watchOS)
            @available(iOS 17.4, tvOS 17.4, macOS 14.4, visionOS 1.1, *)
            public func contentKeySession(
                _ session: AVContentKeySession, externalProtectionStatusDidChangeFor contentKey: AVContentKey
            ) {
                let key = KeyURI(playerIdentifier: contentKey.contentKeySpecifier.identifier) ?? ""
                onNotice(.protectionChanged(key, ExternalProtection(contentKey.externalContentProtectionStatus)))
            }
        #endif
    }

    #if !os(watchOS)
        @available(iOS 17.4, tvOS 17.4, macOS 14.4, visionOS 1.1, *)
        nonisolated extension AVPlayerKeys.ExternalProtection {
            init(_ status: AVExternalContentProtectionStatus) {
                switch status {
                case .sufficient: self = .sufficient
                case .insufficient: self = .insufficient
                default: self = .pending
                }
            }
        }
    #endif
#endif
