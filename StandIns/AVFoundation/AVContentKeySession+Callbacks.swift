import Foundation
import LatchkeyCore
import StandInEngine

extension AVContentKeySession {
    typealias Call = @Sendable (any AVContentKeySessionDelegate, AVContentKeySession) -> Void

    /// Calls the delegate on its queue.
    /// - Parameter afterwards: runs after the callback, even if there was no delegate.
    func notify(
        _ name: Callback, about subject: String? = nil, _ call: @escaping Call,
        afterwards: @escaping @Sendable (CallbackTaker) -> Void = { _ in }
    ) {
        guard let queue = delegateQueue else { return afterwards(.nobody) }
        stage.deliver(
            name.rawValue, about: subject, on: queue, { [self] in makeCall(call) }, afterwards: afterwards)
    }

    func makeCall(_ call: Call) {
        guard let delegate else { return CallbackProbe.noteNobody() }
        let running = state.withLock { state in
            state.running += 1
            return state.running
        }
        if running > 1, !stage.misbehaves(.callsOnOddThreads) {
            stage.log.note(.concurrentQueue, delegateQueue?.label ?? "")
        }
        call(delegate, self)
        state.withLock { $0.running -= 1 }
    }

    /// Sends a request to the delegate.
    func send(_ request: AVContentKeyRequest) {
        guard enter(request) else { return }
        for _ in 0..<(stage.misbehaves(.callsBackTwice) ? 2 : 1) { hand(request) }
    }

    /// Sends several requests, in one call if the delegate implements it.
    func send(batch requests: [AVContentKeyRequest], initializationData: Data?) {
        let requests = requests.filter(enter)
        guard requests.count > 1, let queue = delegateQueue else {
            return requests.forEach { hand($0) }
        }
        stage.offer(Callback.didProvideBatch.rawValue, on: queue) { [self] in
            makeCall { $0.contentKeySession($1, didProvide: requests, forInitializationData: initializationData) }
        } otherwise: { [self] in
            for request in requests { for _ in 0..<(stage.misbehaves(.callsBackTwice) ? 2 : 1) { hand(request) } }
        }
    }

    /// Keeps a request until it is answered.
    private func enter(_ request: AVContentKeyRequest) -> Bool {
        stage.keepIfReleasingLate(request)
        let forgets = stage.misbehaves(.releasesEarly)
        let condition = state.withLock { state in
            if state.condition == .usable, !forgets { state.open[ObjectIdentifier(request)] = request }
            return state.condition
        }
        switch condition {
        case .usable: return true
        case .expired: request.end(.failed, AVError.because(.contentIsNotAuthorized, "The session is expired."))
        case .reset: fail(request, AVError.because(.mediaServicesWereReset, "The media services were reset."))
        }
        return false
    }

    private func hand(_ request: AVContentKeyRequest) {
        let drops = stage.misbehaves(.dropsDelegate)
        notify(Callback.handing(request.purpose), about: request.wish.text) { delegate, session in
            if drops { session.state.withLock { $0.delegate = nil } }
            switch request {
            case let request as AVPersistableContentKeyRequest:
                delegate.contentKeySession(session, didProvide: request)
            case _ where request.purpose == .renewal:
                delegate.contentKeySession(session, didProvideRenewingContentKeyRequest: request)
            default: delegate.contentKeySession(session, didProvide: request)
            }
        } afterwards: { [self] taker in
            guard taker != .delegate else { return }
            if taker == .standard, request.purpose == .persistable {
                stage.log.note(.persistableCallbackMissing, request.wish.text)
            }
            // An unhandled renewal is dropped. The lease then expires.
            fail(request, AVError.because(.contentIsNotAuthorized, "Nobody handles the key request."))
        }
    }
}

/// The names of the delegate's callbacks in the log.
public enum Callback: String, Sendable, CaseIterable {
    case didProvide
    case didProvideRenewing
    case didProvidePersistable
    case didProvideBatch
    case didUpdatePersistable
    case didFail
    case shouldRetry
    case didSucceed
    case sessionIdentifierDidChange
    case didGenerateExpiredSessionReport
    case externalProtectionStatusDidChange

    static func handing(_ purpose: StandInPurpose) -> Callback {
        switch purpose {
        case .streaming: .didProvide
        case .persistable: .didProvidePersistable
        case .renewal: .didProvideRenewing
        }
    }
}
