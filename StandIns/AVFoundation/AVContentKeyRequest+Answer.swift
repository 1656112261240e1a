public import Foundation
import LatchkeyCore
import StandInEngine

extension AVContentKeyRequest {
    /// Makes an SPC. The completion comes on a thread of the system's choice.
    public func makeStreamingContentKeyRequestData(
        forApp appIdentifier: Data, contentIdentifier: Data?, options: [String: Any]? = nil,
        completionHandler handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let made = Result { try makeSPC(appIdentifier, contentIdentifier) }
        let times = stage.misbehaves(.completesTwice) ? 2 : 1
        let isSilent = stage.misbehaves(.completesWithNothing)
        let session = state.withLock { $0.session }
        // The request has to live as long as its own SPC takes.
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
        let spc = try makeSPC(appIdentifier, contentIdentifier)
        if stage.misbehaves(.cancelsMidway) { state.withLock { $0.session }?.cancel(self) }
        return spc
    }

    /// Answers the request with a license, or with a key that was stored.
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

    /// Asks for a persistable request in place of this one.
    /// - Throws: an `AVError` where keys cannot be stored; answer this request then.
    public func respondByRequestingPersistableContentKeyRequest() throws {
        guard let session = livingSession("respondByRequestingPersistableContentKeyRequest") else { return }
        guard canProvidePersistableContentKey else {
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

    /// The same under the name of iOS.
    public func respondByRequestingPersistableContentKeyRequestAndReturnError() throws {
        try respondByRequestingPersistableContentKeyRequest()
    }

    /// The request's session; without it every call is an exception.
    func livingSession(_ call: String) -> AVContentKeySession? {
        let session = state.withLock { $0.session }
        if session == nil { stage.log.note(.requestOutlivedSession, "\(call) for \(wish.text)") }
        return session
    }

    private func makeSPC(_ certificate: Data, _ contentIdentifier: Data?) throws -> Data {
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

    /// Takes the right to answer.
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
