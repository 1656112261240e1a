import StandInEngine

/// Gets the keys of a session.
///
/// Only the first method is required. On Linux the others have defaults in an extension, which say that they ran.
public protocol AVContentKeySessionDelegate: NSObjectProtocol, Sendable {
    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest)

    func contentKeySession(
        _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest)

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest)

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

    func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequestDidSucceed keyRequest: AVContentKeyRequest)

    func contentKeySessionContentProtectionSessionIdentifierDidChange(_ session: AVContentKeySession)

    func contentKeySessionDidGenerateExpiredSessionReport(_ session: AVContentKeySession)

    func contentKeySession(
        _ session: AVContentKeySession, externalProtectionStatusDidChangeFor contentKey: AVContentKey)

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
