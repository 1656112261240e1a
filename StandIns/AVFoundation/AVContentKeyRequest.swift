public import Foundation
import LatchkeyCore
import StandInEngine

/// A request for one key.
// Sound: what changes is in `state`, behind a lock; StandInTests run under the thread sanitizer.
public class AVContentKeyRequest: NSObject, @unchecked Sendable {
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

    /// Who may still do something with the request.
    enum Phase {
        /// It waits for an answer.
        case open
        case answered
        /// A persistable request took its place.
        case switched
        /// The player gave it up, and has not said so yet.
        case ending
        /// The player gave it up, and the delegate knows.
        case ended
    }

    struct State {
        var phase = Phase.open
        var status = Status.requestingResponse
        var error: (any Error)?
        var contentKey: AVContentKey?
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
        exchange = StandInExchange(purpose, destination: wish.destination, on: stage)
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
    public var options: [String: any Sendable] { wish.options }
    public var canProvidePersistableContentKey: Bool {
        wish.destination == .device && stage.behavior.persistence == .allowed
    }
    public var renewsExpiringResponseData: Bool { purpose == .renewal }
    public var contentKeySpecifier: AVContentKeySpecifier {
        AVContentKeySpecifier(forKeySystem: .fairPlayStreaming, identifier: wish.identifier ?? wish.text)
    }
    public var contentKey: AVContentKey? { state.withLock { $0.contentKey } }
    public var originatingRecipient: (any AVContentKeyRecipient)? {
        nonisolated(unsafe) let recipient = state.withLock { state in
            // Sound: recipients are shared by the player and the app in the real SDK as well.
            nonisolated(unsafe) let recipient = state.recipient
            return recipient
        }
        return recipient
    }
}

/// A request for a key that is to be stored.
public final class AVPersistableContentKeyRequest: AVContentKeyRequest, @unchecked Sendable {
    /// Makes what the app stores, and answers with.
    /// - Throws: an `AVError` with FairPlay's number below it.
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

/// What a key is wanted for: everything that a request passes on to the one that takes its place.
struct KeyWish: @unchecked Sendable {
    let text: String
    let identifier: (any Sendable)?
    var initializationData: Data?
    var options: [String: any Sendable] = [:]
    var destination = StandInExchange.Destination.device
    // Sound: only handed on, never touched.
    weak var recipient: (any AVContentKeyRecipient)?

    init(identifier: (any Sendable)?) {
        text = KeyIdentifier.text(identifier)
        self.identifier = identifier
    }

    /// A key of a stream.
    init(_ uri: KeyURI, form: IdentifierForm) {
        text = uri.raw
        identifier = KeyIdentifier.form(uri, form)
    }
}
