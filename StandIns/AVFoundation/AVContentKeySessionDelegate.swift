import StandInEngine

/// Provides the keys of a session.
///
/// Only the first method is required. On Linux the others have defaults in an extension, which record that they ran.
@available(iOS 10.3, macOS 10.12.4, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
public protocol AVContentKeySessionDelegate: NSObjectProtocol, Sendable {
    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest)

    func contentKeySession(
        _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest)

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest)

    @available(iOS 11.0, macOS 10.15, tvOS 17.0, watchOS 7.0, visionOS 1.0, *)
    func contentKeySession(
        _ session: AVContentKeySession, didUpdatePersistableContentKey persistableContentKey: Data,
        forContentKeyIdentifier keyIdentifier: Any)

    func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
        didFailWithError err: any Error)

    func contentKeySession(
        _ session: AVContentKeySession, shouldRetry keyRequest: AVContentKeyRequest,
        reason retryReason: AVContentKeyRequest.RetryReason
    ) -> Bool

    @available(iOS 12.0, macOS 10.14, tvOS 12.0, watchOS 7.0, visionOS 1.0, *)
    func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequestDidSucceed keyRequest: AVContentKeyRequest)

    func contentKeySessionContentProtectionSessionIdentifierDidChange(_ session: AVContentKeySession)

    @available(iOS 12.0, macOS 10.14, tvOS 12.0, watchOS 7.0, visionOS 1.0, *)
    func contentKeySessionDidGenerateExpiredSessionReport(_ session: AVContentKeySession)

    @available(iOS 17.4, macOS 14.4, tvOS 17.4, visionOS 1.1, *)
    @available(watchOS, unavailable)
    func contentKeySession(
        _ session: AVContentKeySession, externalProtectionStatusDidChangeFor contentKey: AVContentKey)

    @available(iOS 17.4, macOS 14.4, tvOS 17.4, watchOS 10.4, visionOS 1.1, *)
    func contentKeySession(
        _ session: AVContentKeySession, didProvide keyRequests: [AVContentKeyRequest],
        forInitializationData initializationData: Data?)
}

extension AVContentKeySessionDelegate {
    public func contentKeySession(
        _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest
    ) { CallbackProbe.noteDefault() }

    public func contentKeySession(
        _ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest
    ) { CallbackProbe.noteDefault() }

    public func contentKeySession(
        _ session: AVContentKeySession, didUpdatePersistableContentKey persistableContentKey: Data,
        forContentKeyIdentifier keyIdentifier: Any
    ) { CallbackProbe.noteDefault() }

    public func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
        didFailWithError err: any Error
    ) { CallbackProbe.noteDefault() }

    public func contentKeySession(
        _ session: AVContentKeySession, shouldRetry keyRequest: AVContentKeyRequest,
        reason retryReason: AVContentKeyRequest.RetryReason
    ) -> Bool {
        CallbackProbe.noteDefault()
        return false
    }

    public func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequestDidSucceed keyRequest: AVContentKeyRequest
    ) { CallbackProbe.noteDefault() }

    public func contentKeySessionContentProtectionSessionIdentifierDidChange(_ session: AVContentKeySession) {
        CallbackProbe.noteDefault()
    }

    public func contentKeySessionDidGenerateExpiredSessionReport(_ session: AVContentKeySession) {
        CallbackProbe.noteDefault()
    }

    public func contentKeySession(
        _ session: AVContentKeySession, externalProtectionStatusDidChangeFor contentKey: AVContentKey
    ) { CallbackProbe.noteDefault() }

    public func contentKeySession(
        _ session: AVContentKeySession, didProvide keyRequests: [AVContentKeyRequest],
        forInitializationData initializationData: Data?
    ) { CallbackProbe.noteDefault() }
}
