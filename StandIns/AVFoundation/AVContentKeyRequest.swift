public import Foundation
import LatchkeyCore
import StandInEngine

/// A request for one key.
// Sound: the mutable state is in `state`, behind a lock; StandInTests run under the thread sanitizer.
@available(iOS 10.3, macOS 10.12.4, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
open class AVContentKeyRequest: NSObject, @unchecked Sendable {
    public enum Status: Int, Sendable {
        case requestingResponse = 0
        case receivedResponse = 1
        case renewed = 2
        case retried = 3
        case cancelled = 4
        case failed = 5
    }

    public struct RetryReason: RawRepresentable, Hashable, Sendable {
        public typealias RawValue = String

        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let timedOut = RetryReason(rawValue: "ReceivedKeyResponseAfterSPCTimedOut")
        public static let receivedResponseWithExpiredLease = RetryReason(
            rawValue: "ReceivedKeyResponseWithExpiredLease")
        public static let receivedObsoleteContentKey = RetryReason(rawValue: "ReceivedObsoleteKeyResponse")
    }

    /// The phases of a request.
    enum Phase {
        /// It awaits an answer.
        case open
        case answered
        /// A persistable request replaced it.
        case switched
        /// The player cancelled it but has not called the delegate yet.
        case ending
        /// The player cancelled it and called the delegate.
        case ended
    }

    struct State {
        var phase = Phase.open
        var status = Status.requestingResponse
        var error: (any Error)?
        var contentKey: AVContentKey?
        /// Whether the system already had the key.
        var isFulfilled = false
        weak var session: AVContentKeySession?
        weak var recipient: (any AVContentKeyRecipient)?
    }

    let wish: KeyWish
    let purpose: StandInPurpose
    let exchange: StandInExchange
    let outcome: StandInOutcome<Void>
    /// The request whose key this one renews.
    let renewed: AVContentKeyRequest?
    let stage: StandInStage
    let state: Locked<State>

    init(
        _ wish: KeyWish, for purpose: StandInPurpose, of session: AVContentKeySession,
        outcome: StandInOutcome<Void> = StandInOutcome(), renewing renewed: AVContentKeyRequest? = nil
    ) {
        self.wish = wish
        self.purpose = purpose
        self.outcome = outcome
        self.renewed = renewed
        stage = session.stage
        exchange = StandInExchange(purpose, for: wish.text, destination: wish.destination, on: stage)
        var state = State()
        state.session = session
        state.recipient = wish.recipient
        self.state = Locked(state)
    }

    deinit {
        guard state.withLock({ $0.phase == .open && $0.session != nil }) else { return }
        stage.log.note(.unanswered, "The request for \(wish.text) was dropped without an answer.")
        outcome.settle(.failure(AVError.because(.contentIsNotAuthorized, "The key request was dropped.")))
    }

    public var status: Status { state.withLock { $0.status } }
    public var error: (any Error)? { state.withLock { $0.error } }
    public var identifier: (any Sendable)? { wish.identifier }
    public var initializationData: Data? { wish.initializationData }
    @available(iOS 12.2, macOS 10.14.4, tvOS 12.2, watchOS 7.0, visionOS 1.0, *)
    public var options: [String: any Sendable] { wish.options }
    /// Whether the request makes keys that can be stored: only persistable requests do, not requests that can become persistable.
    public var canProvidePersistableContentKey: Bool { self is AVPersistableContentKeyRequest }
    public var renewsExpiringResponseData: Bool { purpose == .renewal }
    @available(iOS 14.5, macOS 11.3, tvOS 14.5, watchOS 7.4, visionOS 1.0, *)
    public var contentKeySpecifier: AVContentKeySpecifier {
        AVContentKeySpecifier(forKeySystem: .fairPlayStreaming, identifier: wish.identifier ?? wish.text)
    }
    @available(iOS 14.5, macOS 11.3, tvOS 14.5, watchOS 7.4, visionOS 1.0, *)
    public var contentKey: AVContentKey? { state.withLock { $0.contentKey } }
    @available(iOS 26.0, macOS 26.0, tvOS 26.0, watchOS 26.0, visionOS 26.0, *)
    public var originatingRecipient: (any AVContentKeyRecipient)? {
        nonisolated(unsafe) let recipient = state.withLock { state in
            // Sound: player and app share recipients in the real SDK, too.
            nonisolated(unsafe) let recipient = state.recipient
            return recipient
        }
        return recipient
    }
}

/// A request for a key to store.
@available(iOS 10.3, macOS 10.15, tvOS 10.2, watchOS 7.0, visionOS 1.0, *)
open class AVPersistableContentKeyRequest: AVContentKeyRequest, @unchecked Sendable {
    /// Makes the data that the app stores and answers with.
    /// - Throws: an `AVError` with FairPlay's number as its underlying error.
    public func persistableContentKey(
        fromKeyVendorResponse keyVendorResponse: Data, options: [String: Any]? = nil
    ) throws -> Data {
        guard livingSession("persistableContentKey(fromKeyVendorResponse:)") != nil else {
            throw AVError.because(.unknown, "The request's session is gone.")
        }
        do { return try exchange.storableKey(from: keyVendorResponse) } catch {
            throw AVError.wrapping(error as NSError)
        }
    }
}

/// The purpose of a key request: everything that it passes on to the request that replaces it.
struct KeyWish: @unchecked Sendable {
    let text: String
    let identifier: (any Sendable)?
    var initializationData: Data?
    var options: [String: any Sendable] = [:]
    var destination = StandInExchange.Destination.device
    // Sound: only passed on, never accessed.
    weak var recipient: (any AVContentKeyRecipient)?

    /// A key that an app requests. Without an identifier, the initialization data distinguishes it from others.
    init(identifier: (any Sendable)?, initializationData: Data?) {
        let data = initializationData.map { "initialization data \($0.base64EncodedString())" }
        text = identifier == nil ? data ?? "" : KeyIdentifier.text(identifier)
        self.identifier = identifier
        self.initializationData = initializationData
    }

    /// A key of a stream.
    init(_ uri: KeyURI, form: IdentifierForm) {
        text = uri.raw
        identifier = KeyIdentifier.form(uri, form)
    }
}
