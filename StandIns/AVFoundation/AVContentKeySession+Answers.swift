import Foundation
import LatchkeyCore
import StandInEngine

extension AVContentKeySession {
    /// Accepts a license or a stored key.
    func take(_ response: AVContentKeyResponse, for request: AVContentKeyRequest) {
        guard state.withLock({ $0.condition }) == .usable else {
            return fail(request, AVError.because(.mediaServicesWereReset, "The media services were reset."))
        }
        guard case .fairPlay(let bytes) = response.content else {
            return fail(request, AVError.wrapping(AppleError.status(-42668, "The response is not FairPlay's.")))
        }
        do {
            hold(try request.exchange.open(bytes), for: request)
        } catch let turndown as Turndown {
            askForRetry(request, turndown)
        } catch {
            fail(request, AVError.wrapping(error as NSError))
        }
    }

    func hold(_ key: StandInKey, for request: AVContentKeyRequest) {
        let specifier = AVContentKeySpecifier(
            forKeySystem: keySystem, identifier: request.wish.identifier ?? request.wish.text)
        let text = request.wish.text
        let contentKey = AVContentKey(specifier) { [weak self] in
            self?.state.withLock { $0.keys[text] = nil }
        }
        state.withLock { state in
            state.keys[text] = HeldKey(key: key, request: request)
            state.open[ObjectIdentifier(request)] = nil
        }
        request.state.withLock {
            $0.status = .receivedResponse
            $0.contentKey = contentKey
        }
        request.renewed?.state.withLock { $0.status = .renewed }
        for recipient in contentKeyRecipients { recipient.contentKeySession(self, didProvide: contentKey) }
        notify(.didSucceed, about: text) {
            $0.contentKeySession($1, contentKeyRequestDidSucceed: request)
        } afterwards: { _ in
            request.outcome.settle(.success(()))
        }
    }

    /// Fails a request. Keys that the session already holds stay valid.
    func fail(_ request: AVContentKeyRequest, _ error: any Error) {
        finish(request, .failed, error)
    }

    /// Cancels a request.
    func cancel(_ request: AVContentKeyRequest) {
        guard request.state.withLock({ $0.phase == .open }) else { return }
        finish(request, .cancelled, AVError.because(.contentKeyRequestCancelled, "The key request was cancelled."))
    }

    private func finish(_ request: AVContentKeyRequest, _ status: AVContentKeyRequest.Status, _ error: any Error) {
        state.withLock { $0.open[ObjectIdentifier(request)] = nil }
        request.state.withLock { state in
            if state.phase == .open { state.phase = .ending }
            state.status = status
            state.error = error
        }
        notify(.didFail, about: request.wish.text) {
            $0.contentKeySession($1, contentKeyRequest: request, didFailWithError: error)
            request.state.withLock { state in if state.phase == .ending { state.phase = .ended } }
        } afterwards: { _ in
            request.end(status, error)
        }
    }

    private func askForRetry(_ request: AVContentKeyRequest, _ turndown: Turndown) {
        let retries = Locked(false)
        notify(.shouldRetry, about: request.wish.text) { delegate, session in
            let answer = delegate.contentKeySession(
                session, shouldRetry: request, reason: AVContentKeyRequest.RetryReason(turndown.cause))
            retries.withLock { $0 = answer }
        } afterwards: { [self] _ in
            guard retries.withLock({ $0 }) else { return fail(request, AVError.wrapping(turndown.error)) }
            replace(request)
        }
    }

    /// Sends a new request instead of one that is retried or becomes persistable.
    func replace(_ request: AVContentKeyRequest) {
        let isSwitch = request.state.withLock { $0.phase == .switched }
        if !isSwitch { request.state.withLock { $0.status = .retried } }
        state.withLock { $0.open[ObjectIdentifier(request)] = nil }
        let isPersistable = isSwitch || request.purpose == .persistable
        let next =
            isPersistable
            ? AVPersistableContentKeyRequest(request.wish, for: .persistable, of: self, outcome: request.outcome)
            : AVContentKeyRequest(
                request.wish, for: request.purpose, of: self, outcome: request.outcome, renewing: request.renewed)
        send(next)
    }
}

extension AVContentKeyRequest {
    /// Ends the request. Any later answer breaks a rule.
    func end(_ status: Status, _ error: any Error) {
        state.withLock { state in
            if state.phase == .open || state.phase == .ending { state.phase = .ended }
            state.status = status
            state.error = error
        }
        outcome.settle(.failure(error))
    }

    /// Ends the request because its session is released.
    func outliveSession() {
        let isOpen = state.withLock { $0.phase == .open }
        if isOpen { stage.log.note(.unanswered, "The session went while \(wish.text) was open.") }
        outcome.settle(.failure(AVError.because(.contentIsNotAuthorized, "The session is gone.")))
    }
}

extension AVContentKeyRequest.RetryReason {
    init(_ cause: RetryCause) {
        switch cause {
        case .timedOut: self = .timedOut
        case .expiredLease: self = .receivedResponseWithExpiredLease
        case .obsolete: self = .receivedObsoleteContentKey
        }
    }
}
