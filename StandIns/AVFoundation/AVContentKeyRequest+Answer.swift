public import Foundation
import LatchkeyCore
import StandInEngine

extension AVContentKeyRequest {
    /// Makes an SPC. The completion handler is called on a thread of the system's choice.
    public func makeStreamingContentKeyRequestData(
        forApp appIdentifier: Data, contentIdentifier: Data?, options: [String: Any]? = nil,
        completionHandler handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        guard mayMakeSPCPlainly() else {
            return handler(nil, AVError.because(.createContentKeyRequestFailed, "The session has advisory keys."))
        }
        makeSPC(appIdentifier, contentIdentifier, options, for: handler)
    }

    func makeSPC(
        _ appIdentifier: Data, _ contentIdentifier: Data?, _ options: [String: Any]?,
        for handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let made = Result { try makeSPC(appIdentifier, contentIdentifier, options) }
        let times = stage.misbehaves(.completesTwice) ? 2 : 1
        let isSilent = stage.misbehaves(.completesWithNothing)
        let session = state.withLock { $0.session }
        // The request must live until its SPC is made.
        DispatchQueue.global().async { [self] in
            for _ in 0..<times {
                switch made {
                case _ where isSilent: handler(nil, nil)
                case .success(let spc): handler(spc, nil)
                case .failure(let error): handler(nil, error)
                }
            }
            if stage.misbehaves(.cancelsMidway) { session?.cancel(self) }
        }
    }

    /// Makes an SPC.
    public func makeStreamingContentKeyRequestData(
        forApp appIdentifier: Data, contentIdentifier: Data?, options: [String: Any]? = nil
    ) async throws -> Data {
        guard mayMakeSPCPlainly() else {
            throw AVError.because(.createContentKeyRequestFailed, "The session has advisory keys.")
        }
        let spc = try makeSPC(appIdentifier, contentIdentifier, options)
        if stage.misbehaves(.cancelsMidway) { state.withLock { $0.session }?.cancel(self) }
        return spc
    }

    /// Answers the request with a license or a stored key.
    public func processContentKeyResponse(_ keyResponse: AVContentKeyResponse) {
        guard let session = livingSession("processContentKeyResponse"), claim("processContentKeyResponse") else {
            return
        }
        session.take(keyResponse, for: self)
    }

    /// Answers the request with an error.
    public func processContentKeyResponseError(_ error: any Error) {
        guard let session = livingSession("processContentKeyResponseError"),
            claim("processContentKeyResponseError")
        else { return }
        if !(error is AVError), !AppleError.isNSError(error) {
            stage.log.note(.errorWithoutText, "\(type(of: error)) for \(wish.text)")
        }
        session.fail(self, error is AVError ? error : AppleError.passedOn(error))
    }

    /// Requests a persistable request instead of this one.
    /// - Throws: an `AVError` if keys cannot be stored. Then answer this request.
    @available(macOS 10.15, tvOS 17.0, watchOS 7.0, visionOS 1.0, *)
    public func respondByRequestingPersistableContentKeyRequest() throws {
        guard let session = livingSession("respondByRequestingPersistableContentKeyRequest") else { return }
        guard wish.destination == .device, stage.behavior.persistence == .allowed else {
            throw AVError.because(.operationCancelled, "The key cannot be stored: the picture goes elsewhere.")
        }
        let isOpen = state.withLock { state in
            guard state.phase == .open else { return false }
            state.phase = .switched
            return true
        }
        guard isOpen, purpose != .persistable else {
            stage.log.note(.switchedAfterAnswer, wish.text)
            throw AVError.because(.unknown, "The request is not open.")
        }
        session.replace(self)
    }

    /// The same, with the name in iOS.
    @available(iOS 11.2, *)
    public func respondByRequestingPersistableContentKeyRequestAndReturnError() throws {
        try respondByRequestingPersistableContentKeyRequest()
    }

    /// The request's session. Without a session, every call is an exception.
    func livingSession(_ call: String) -> AVContentKeySession? {
        let session = state.withLock { $0.session }
        if session == nil { stage.log.note(.requestOutlivedSession, "\(call) for \(wish.text)") }
        return session
    }

    /// Whether the app may use the call without advisory keys. Otherwise it raises an exception.
    private func mayMakeSPCPlainly() -> Bool {
        guard state.withLock({ $0.session })?.state.withLock({ $0.supportsAdvisoryKeys }) == true else { return true }
        stage.log.note(.advisoryKeysIgnored, "makeStreamingContentKeyRequestData for \(wish.text)")
        return false
    }

    private func makeSPC(_ certificate: Data, _ contentIdentifier: Data?, _ options: [String: Any]?) throws -> Data {
        if options?[AVContentKeyRequestShouldRandomizeDeviceIdentifierKey] as? Bool == true,
            !stage.behavior.allowsRandomDeviceIdentifiers
        {
            // `AVError` has no case for it in all SDKs.
            throw NSError(domain: AVFoundationErrorDomain, code: -11888)
        }
        guard let session = livingSession("makeStreamingContentKeyRequestData") else {
            throw AVError.because(.unknown, "The request's session is gone.")
        }
        let phase = state.withLock { $0.phase }
        if phase == .ending || phase == .ended {
            throw AVError.because(.contentKeyRequestCancelled, "The key request was cancelled.")
        }
        do {
            let spc = try exchange.makeSPC(certificate: certificate, contentIdentifier: contentIdentifier)
            session.beginProtection(certificate)
            return spc
        } catch {
            throw AVError.wrapping(error as NSError)
        }
    }

    /// Marks the request as answered. Returns `false` if it must no longer be answered.
    private func claim(_ call: String) -> Bool {
        let phase = state.withLock { state in
            let phase = state.phase
            if phase == .open { state.phase = .answered }
            return phase
        }
        switch phase {
        case .open: return true
        case .answered: stage.log.note(.answeredTwice, "\(call) for \(wish.text)")
        case .switched: stage.log.note(.answeredAfterSwitch, "\(call) for \(wish.text)")
        case .ended: stage.log.note(.answeredAfterEnd, "\(call) for \(wish.text)")
        // The app cannot know yet.
        case .ending: break
        }
        return false
    }
}
