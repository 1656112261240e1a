/// What a player does against its documentation, and real ones were seen to do. An adapter has to survive each.
///
/// Source: `player-apis.md` §3.14, §9 and §10.
public enum Misbehavior: String, Sendable, Hashable, CaseIterable {
    /// Every request for a key is handed over twice, as the same object.
    case callsBackTwice
    /// The completion handler of each SPC is called twice, where the player takes one.
    case completesTwice
    /// Callbacks come on threads of their own, several at once, instead of on the queue that the app gave.
    case callsOnOddThreads
    /// A request is cancelled once its SPC is made.
    case cancelsMidway
    /// The player holds on to requests, sessions and delegates until the stage goes.
    case releasesLate
    /// The player forgets a request as soon as it has handed it over, and only the app keeps it alive.
    case releasesEarly
    /// Each key is asked for by two requests at the same time.
    case repeatsIdentifiers
    /// Playback moves to an AirPlay receiver when it starts: all keys are asked for anew and cannot be stored.
    case switchesToAirPlay
    /// The system's media services end when playback starts. Happens once per stage.
    case resetsMediaServices
    /// The player forgets its delegate after the first request.
    case dropsDelegate
    /// An SPC's completion gets neither data nor an error.
    case completesWithNothing
    /// Callbacks that may block come on the main thread, instead of on a worker of the SDK's.
    case callsOnMainThread
    /// Where several keys are in flight, their SPCs come in the opposite order of their identifiers.
    case reordersKeys
}

/// How a key's identifier arrives.
public enum IdentifierForm: String, Sendable, Hashable, CaseIterable {
    /// A `String`.
    case string
    /// A `URL`; a `String` where the text makes none.
    case url
    /// An `NSURL`; an `NSString` where the text makes none.
    case nsURL
    /// An `NSString`.
    case nsString
    /// No identifier at all.
    case none
}

/// Why a player asks whether to try a key once more.
public enum RetryCause: String, Sendable, Hashable, CaseIterable {
    /// The license came too late for its SPC.
    case timedOut
    /// The license's lease was over when it came.
    case expiredLease
    /// The license answers an earlier SPC.
    case obsolete
}

/// How a stand-in behaves where the real player leaves a choice, or errs.
public struct StandInBehavior: Sendable, Hashable {
    /// What it does against its documentation; nothing unless set.
    public var misbehaviors: Set<Misbehavior> = []
    /// How identifiers of keys arrive that a stream asks for.
    public var identifierForm = IdentifierForm.string
    /// Reasons to turn the next licenses down, one each, before they are looked at.
    public var retries: [RetryCause] = []
    /// Whether requests may be turned into persistable ones.
    public var persistence = Persistence.allowed
    /// How long an SPC may wait for its license; 10 minutes unless set.
    public var lifetimeOfSPC = Duration.seconds(600)

    /// Whether keys can be stored.
    public enum Persistence: String, Sendable, Hashable {
        /// They can.
        case allowed
        /// The platform cannot, or the picture goes elsewhere: the switch throws.
        case refused
    }

    /// - Parameter misbehaviors: what it does against its documentation.
    public init(_ misbehaviors: Set<Misbehavior> = []) { self.misbehaviors = misbehaviors }
}
