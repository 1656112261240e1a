/// An app's violation of a rule of a real SDK.
///
/// The real SDK raises an exception, ignores the call, or fails later. A stand-in records the violation and continues, so that
/// one test fails and not the whole process.
public struct RuleViolation: Sendable, Hashable, CustomStringConvertible {
    /// The rule.
    public let rule: Rule
    /// The app's action, without secrets.
    public let detail: String

    /// - Parameters:
    ///   - rule: the rule.
    ///   - detail: the app's action, without secrets.
    public init(_ rule: Rule, _ detail: String) {
        self.rule = rule
        self.detail = detail
    }

    public var description: String { "\(rule.rawValue) (Documentation/Players.md \(rule.section)): \(detail)" }

    /// The rules. Names are stable.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// A delegate needs a queue; `nil` is an invalid argument.
        case delegateWithoutQueue
        /// The delegate's queue must be serial.
        case concurrentQueue
        /// A callback must return immediately and do the exchange elsewhere.
        case blockedCallback
        /// A recipient belongs to one session.
        case recipientOfTwoSessions
        /// An item belongs to one player.
        case itemOfTwoPlayers
        /// An item has one place in a queue.
        case itemEnqueuedTwice
        /// A request that an app begins has an identifier or initialization data.
        case requestWithoutIdentifier
        /// A download session needs a background configuration.
        case sessionNotBackground
        /// There is one background session per identifier: a second one has the delegate of the first.
        case sessionIdentifierTaken
        /// No task can be created in an invalidated session.
        case invalidatedSessionUsed
        /// A recipient must be added before its asset begins to load.
        case recipientAddedLate
        /// An expired session accepts no recipients and no requests.
        case expiredSessionUsed
        /// A session must not be expired while requests are open: that ends its other keys, too.
        case expiredWithOpenRequests
        /// A request must be answered once.
        case answeredTwice
        /// A request that became persistable must not be answered itself.
        case answeredAfterSwitch
        /// After the player has reported that a request is cancelled or failed, it must not be answered.
        case answeredAfterEnd
        /// A request must not be used after its session is released.
        case requestOutlivedSession
        /// Every request must be answered.
        case unanswered
        /// An app that requests a persistable request must implement its callback.
        case persistableCallbackMissing
        /// A request can become persistable only while it is open.
        case switchedAfterAnswer
        /// Only a key that the session holds can be renewed.
        case renewedWithoutKey
        /// An error must be an `NSError`. The text of other Swift errors is lost.
        case errorWithoutText
        /// With advisory keys, SPCs must be made by the call that supports requests without an SPC.
        case advisoryKeysIgnored
        /// Advisory keys must not be turned off.
        case advisoryKeysTurnedOff
        /// A session must be for one of the known key systems.
        case unknownKeySystem
        /// A loading request must be finished once, and not after it was cancelled.
        case finishedTwice
        /// A key's content type must be one of the two for keys, or none.
        case wrongContentType
        /// A completion handler must be called once.
        case completedTwice
        /// The main thread must not wait.
        case blockedMainThread
        /// A player must get its delegate before it is made, or before it gets its stream.
        case delegateSetLate
        /// The app must retain a delegate that its player holds weakly.
        case delegateGone
        /// A renewal date needs a content type.
        case renewalDateWithoutType
        /// A failed reply of the license service must not be passed on as a certificate or license.
        case failedReplyPassedOn
        /// An SDK must be loaded before its first player is made.
        case libraryNotLoaded

        /// The section of `Documentation/Players.md` that states the rule.
        public var section: String {
            switch self {
            case .delegateWithoutQueue, .recipientAddedLate, .recipientOfTwoSessions, .expiredSessionUsed,
                .unknownKeySystem, .requestWithoutIdentifier:
                "§3.1"
            case .itemOfTwoPlayers, .itemEnqueuedTwice: "§3.7"
            case .sessionNotBackground, .sessionIdentifierTaken, .invalidatedSessionUsed: "§3.8"
            case .concurrentQueue, .blockedCallback: "§3.10"
            case .expiredWithOpenRequests: "§3.14"
            case .answeredTwice, .answeredAfterSwitch, .answeredAfterEnd, .unanswered, .errorWithoutText: "§3.11"
            case .requestOutlivedSession, .persistableCallbackMissing, .switchedAfterAnswer: "§3.3"
            case .advisoryKeysIgnored: "§3.3"
            case .advisoryKeysTurnedOff: "§3.1"
            case .renewedWithoutKey: "§3.9"
            case .finishedTwice, .wrongContentType: "§3.6"
            case .completedTwice, .blockedMainThread: "§2"
            case .renewalDateWithoutType: "§4.1"
            case .delegateSetLate, .delegateGone: "§4.2"
            case .failedReplyPassedOn: "§5.2"
            case .libraryNotLoaded: "§6"
            }
        }
    }
}
