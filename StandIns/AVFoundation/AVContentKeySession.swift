public import Dispatch
public import Foundation
import LatchkeyCore
import StandInEngine

/// Asks its delegate for keys and holds them for its recipients.
// Sound: the mutable state is in `state`, behind a lock; StandInTests run under the thread sanitizer.
@available(iOS 10.3, macOS 10.12.4, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
open class AVContentKeySession: NSObject, @unchecked Sendable {
    struct State {
        weak var delegate: (any AVContentKeySessionDelegate)?
        var queue: DispatchQueue?
        var recipients: [any AVContentKeyRecipient] = []
        var keys: [String: HeldKey] = [:]
        var open: [ObjectIdentifier: AVContentKeyRequest] = [:]
        var condition = Condition.usable
        var protectionSession: Data?
        /// The certificate of the latest SPC. Apple calls it the app's identifier.
        var appIdentifier: Data?
        var running = 0
        var supportsAdvisoryKeys = false
        var stage: StandInStage
    }

    enum Condition {
        case usable
        case expired
        /// The media services were reset.
        case reset
    }

    public let keySystem: AVContentKeySystem
    public let storageURL: URL?
    let state: Locked<State>
    /// Held while deciding which keys to request, so that two items loading concurrently request each key once.
    let asking = Locked(())

    init(_ keySystem: AVContentKeySystem, storage: URL?) {
        self.keySystem = keySystem
        storageURL = storage
        let stage = StandInStage.current ?? StandInStage()
        state = Locked(State(stage: stage))
        super.init()
        stage.keepIfReleasingLate(self)
        stage.note(self)
        if ![.fairPlayStreaming, .clearKey, .authorizationToken].contains(keySystem) {
            stage.log.note(.unknownKeySystem, keySystem.rawValue)
        }
    }

    @available(iOS 11.0, macOS 10.13, tvOS 11.0, watchOS 7.0, visionOS 1.0, *)
    public convenience init(keySystem: AVContentKeySystem) { self.init(keySystem, storage: nil) }

    @available(iOS 10.3, macOS 10.12.4, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
    public convenience init(keySystem: AVContentKeySystem, storageDirectoryAt storageURL: URL) {
        self.init(keySystem, storage: storageURL)
    }

    deinit {
        let state = state.withLock { state in
            // Sound: no other code can reach the state of an object that is being released.
            nonisolated(unsafe) let state = state
            return state
        }
        for request in state.open.values { request.outliveSession() }
        if state.condition != .expired { _ = writeExpiredSessionReport("abnormally expired session") }
    }

    public func setDelegate(_ delegate: (any AVContentKeySessionDelegate)?, queue delegateQueue: dispatch_queue_t?) {
        if delegate != nil, delegateQueue == nil {
            stage.log.note(.delegateWithoutQueue, "AVContentKeySession.setDelegate")
            return
        }
        state.withLock {
            $0.delegate = delegate
            $0.queue = delegateQueue
        }
    }

    public var delegate: (any AVContentKeySessionDelegate)? { state.withLock { $0.delegate } }
    public var delegateQueue: dispatch_queue_t? { state.withLock { $0.queue } }
    public var contentProtectionSessionIdentifier: Data? { state.withLock { $0.protectionSession } }
    var stage: StandInStage { state.withLock { $0.stage } }

    /// Ends the session. Its keys stop decrypting.
    public func expire() {
        let (open, recipients) = state.withLock { state in
            // Sound: player and app share requests and recipients in the real SDK, too.
            nonisolated(unsafe) let taken = (Array(state.open.values), state.recipients)
            state.condition = .expired
            state.open = [:]
            state.keys = [:]
            state.recipients = []
            return taken
        }
        for recipient in recipients { (recipient as? AVURLAsset)?.leave(self) }
        if !open.isEmpty {
            stage.log.note(.expiredWithOpenRequests, open.map(\.wish.text).sorted().joined(separator: ", "))
        }
        for request in open {
            request.end(.cancelled, AVError.because(.operationCancelled, "The session was expired."))
        }
        if storageURL != nil { generateExpiredSessionReport() }
    }

    public func addContentKeyRecipient(_ recipient: any AVContentKeyRecipient) {
        guard state.withLock({ $0.condition }) != .expired else {
            return stage.log.note(.expiredSessionUsed, "addContentKeyRecipient")
        }
        if let asset = recipient as? AVURLAsset {
            if let rule = asset.join(self) { return stage.log.note(rule, asset.url.lastPathComponent) }
        }
        state.withLock { state in
            guard !state.recipients.contains(where: { $0 === recipient }) else { return }
            state.recipients.append(recipient)
        }
    }

    public func removeContentKeyRecipient(_ recipient: any AVContentKeyRecipient) {
        state.withLock { $0.recipients.removeAll { $0 === recipient } }
        (recipient as? AVURLAsset)?.leave(self)
    }

    public var contentKeyRecipients: [any AVContentKeyRecipient] {
        state.withLock { state in
            // Sound for the same reason as in `expire()`.
            nonisolated(unsafe) let recipients = state.recipients
            return recipients
        }
    }

    /// Requests a key before a stream does. Does nothing if the session holds the key.
    public func processContentKeyRequest(
        withIdentifier identifier: (any Sendable)?, initializationData: Data?,
        options: [String: any Sendable]? = nil
    ) {
        guard identifier != nil || initializationData != nil else {
            return stage.log.note(.requestWithoutIdentifier, "processContentKeyRequest")
        }
        var wish = KeyWish(identifier: identifier, initializationData: initializationData)
        wish.options = options ?? [:]
        let (condition, isHeld) = state.withLock { ($0.condition, $0.keys[wish.text] != nil) }
        guard condition != .expired else {
            return stage.log.note(.expiredSessionUsed, "processContentKeyRequest")
        }
        guard !isHeld else { return }
        send(AVContentKeyRequest(wish, for: .streaming, of: self))
    }

    /// Requests a key again to continue its lease.
    public func renewExpiringResponseData(for contentKeyRequest: AVContentKeyRequest) {
        guard state.withLock({ $0.condition }) != .expired else {
            return stage.log.note(.expiredSessionUsed, "renewExpiringResponseData")
        }
        guard state.withLock({ $0.keys[contentKeyRequest.wish.text] != nil }) else {
            return stage.log.note(.renewedWithoutKey, contentKeyRequest.wish.text)
        }
        send(AVContentKeyRequest(contentKeyRequest.wish, for: .renewal, of: self, renewing: contentKeyRequest))
    }
}

/// A key in a session, with its request.
struct HeldKey: Sendable {
    var key: StandInKey
    let request: AVContentKeyRequest
}
