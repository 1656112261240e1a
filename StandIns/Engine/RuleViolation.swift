/// A rule of a real SDK that an app broke.
///
/// The real SDK raises an exception, ignores the call, or breaks later. A stand-in notes it and goes on, so that one test
/// fails and not the process.
public struct RuleViolation: Sendable, Hashable, CustomStringConvertible {
    /// The rule.
    public let rule: Rule
    /// What was done, without secrets.
    public let detail: String

    /// - Parameters:
    ///   - rule: the rule.
    ///   - detail: what was done, without secrets.
    public init(_ rule: Rule, _ detail: String) {
        self.rule = rule
        self.detail = detail
    }

    public var description: String { "\(rule.rawValue) (player-apis.md \(rule.section)): \(detail)" }

    /// The rules. Names are stable.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// A delegate needs a queue; nil is an invalid argument.
        case delegateWithoutQueue
        /// The delegate's queue is serial.
        case concurrentQueue
        /// A callback returns at once; the exchange happens elsewhere.
        case blockedCallback
        /// A recipient is added before its asset begins to load.
        case recipientAddedLate
        /// An expired session takes no recipients and no requests.
        case expiredSessionUsed
        /// A session is not expired while requests are open: it ends the other keys with it.
        case expiredWithOpenRequests
        /// A request is answered once.
        case answeredTwice
        /// A request that was turned into a persistable one is not answered itself.
        case answeredAfterSwitch
        /// A request that the player cancelled or failed, and said so, is not answered.
        case answeredAfterEnd
        /// A request is not touched once its session is gone.
        case requestOutlivedSession
        /// Every request is answered.
        case unanswered
        /// Who asks for a persistable request takes it.
        case persistableCallbackMissing
        /// A request can be turned into a persistable one only while it is open.
        case switchedAfterAnswer
        /// Only a key that is held can be renewed.
        case renewedWithoutKey
        /// An error is an `NSError`; the text of another Swift error gets lost.
        case errorWithoutText
        /// A session is for one of the known key systems.
        case unknownKeySystem
        /// A loading request is finished once, and not after it was cancelled.
        case finishedTwice
        /// A key's content type is one of the two for keys, or none.
        case wrongContentType
        /// A completion is called once.
        case completedTwice
        /// The main thread waits for nothing.
        case blockedMainThread
        /// A player is given its delegate before it is made, or before it gets its stream.
        case delegateSetLate
        /// The app keeps a delegate that its player holds weakly.
        case delegateGone
        /// A renewal date comes with a content type.
        case renewalDateWithoutType
        /// A failed reply of the license service is not handed on as a certificate or license.
        case failedReplyPassedOn
        /// An SDK is loaded before its first player is made.
        case libraryNotLoaded

        /// The section of `player-apis.md` that states the rule.
        public var section: String {
            switch self {
            case .delegateWithoutQueue, .recipientAddedLate, .expiredSessionUsed, .unknownKeySystem: "§3.1"
            case .concurrentQueue, .blockedCallback: "§3.10"
            case .expiredWithOpenRequests: "§3.14"
            case .answeredTwice, .answeredAfterSwitch, .answeredAfterEnd, .unanswered, .errorWithoutText: "§3.11"
            case .requestOutlivedSession, .persistableCallbackMissing, .switchedAfterAnswer: "§3.3"
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
