import AVFoundation
import LatchkeyCore
import StandInEngine

/// A correct key delegate: it answers every request once, from any thread, and fails with an `NSError`.
final class AppDelegate: NSObject, AVContentKeySessionDelegate {
    enum Wish {
        case streaming
        case offline
    }

    let queue = DispatchQueue(label: "app.keys")
    /// The keys that the app stores, by identifier.
    let files = Locked<[String: Data]>([:])
    let failures = Locked<[NSError]>([])
    let granted = Locked<[AVContentKeyRequest]>([])
    let retryReasons = Locked<[AVContentKeyRequest.RetryReason]>([])
    private let server: KeyServer
    private let wish: Wish

    init(_ server: KeyServer, _ wish: Wish = .streaming) {
        self.server = server
        self.wish = wish
    }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        if wish == .offline, (try? keyRequest.respondByRequestingPersistableContentKeyRequest()) != nil { return }
        answer(keyRequest) { $0 }
    }

    func contentKeySession(
        _ session: AVContentKeySession, didProvideRenewingContentKeyRequest keyRequest: AVContentKeyRequest
    ) { answer(keyRequest) { $0 } }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest) {
        let name = Self.text(keyRequest.identifier)
        if let stored = files.withLock({ $0[name] }) {
            return keyRequest.processContentKeyResponse(.init(fairPlayStreamingKeyResponseData: stored))
        }
        answer(keyRequest) { [files] license in
            let stored = try keyRequest.persistableContentKey(fromKeyVendorResponse: license)
            files.withLock { $0[name] = stored }
            return stored
        }
    }

    func contentKeySession(
        _ session: AVContentKeySession, didUpdatePersistableContentKey persistableContentKey: Data,
        forContentKeyIdentifier keyIdentifier: Any
    ) { files.withLock { $0[Self.text(keyIdentifier)] = persistableContentKey } }

    func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequest keyRequest: AVContentKeyRequest,
        didFailWithError err: any Error
    ) { failures.withLock { $0.append(err as NSError) } }

    func contentKeySession(
        _ session: AVContentKeySession, shouldRetry keyRequest: AVContentKeyRequest,
        reason retryReason: AVContentKeyRequest.RetryReason
    ) -> Bool {
        retryReasons.withLock {
            $0.append(retryReason)
            return $0.count <= 3
        }
    }

    func contentKeySession(
        _ session: AVContentKeySession, contentKeyRequestDidSucceed keyRequest: AVContentKeyRequest
    ) { granted.withLock { $0.append(keyRequest) } }

    func contentKeySessionContentProtectionSessionIdentifierDidChange(_ session: AVContentKeySession) {}

    func contentKeySessionDidGenerateExpiredSessionReport(_ session: AVContentKeySession) {}

    func contentKeySession(
        _ session: AVContentKeySession, externalProtectionStatusDidChangeFor contentKey: AVContentKey
    ) {}

    private func answer(
        _ request: AVContentKeyRequest, _ prepare: @escaping @Sendable (Data) throws -> Data
    ) {
        let name = Self.text(request.identifier)
        let isAnswered = Locked(false)
        request.makeStreamingContentKeyRequestData(
            forApp: server.certificate, contentIdentifier: Data(name.utf8)
        ) { [server] spc, error in
            let isFirst = isAnswered.withLock { answered in
                defer { answered = true }
                return !answered
            }
            guard isFirst else { return }
            do {
                guard let spc else { throw error ?? CocoaError(.featureUnsupported) }
                let bytes = try prepare(server.license(for: spc))
                request.processContentKeyResponse(.init(fairPlayStreamingKeyResponseData: bytes))
            } catch {
                request.processContentKeyResponseError(error as NSError)
            }
        }
    }

    static func text(_ identifier: Any?) -> String {
        switch identifier {
        case let text as String: text
        case let url as URL: url.absoluteString
        default: ""
        }
    }
}
