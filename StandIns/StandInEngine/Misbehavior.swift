/// Ways in which real players were observed to deviate from their documentation. An adapter must survive each of them.
///
/// Source: `Documentation/Players.md` §3.14, §9 and §10.
public enum Misbehavior: String, Sendable, Hashable, CaseIterable {
    /// Every key request is delivered twice, as the same object.
    case callsBackTwice
    /// The completion handler of each SPC is called twice, if the player has one.
    case completesTwice
    /// Callbacks run on several other threads concurrently, instead of on the app's queue.
    case callsOnOddThreads
    /// A request is cancelled after its SPC is made.
    case cancelsMidway
    /// The player retains requests, sessions and delegates until the stage is released.
    case releasesLate
    /// The player releases a request as soon as it has delivered it, so only the app keeps it alive.
    case releasesEarly
    /// Each key is requested twice at the same time.
    case repeatsIdentifiers
    /// Playback moves to an AirPlay receiver when it starts: all keys are requested again and cannot be stored.
    case switchesToAirPlay
    /// The system resets its media services when playback starts. Happens once per stage.
    case resetsMediaServices
    /// The player releases its delegate after the first request.
    case dropsDelegate
    /// The completion handler of an SPC receives neither data nor an error.
    case completesWithNothing
    /// Callbacks that may block run on the main thread, instead of on a worker thread of the SDK.
    case callsOnMainThread
    /// If several keys are requested together, their SPCs arrive in the opposite order of their identifiers.
    case reordersKeys
}

/// The form of a key's identifier.
public enum IdentifierForm: String, Sendable, Hashable, CaseIterable {
    /// A `String`.
    case string
    /// A `URL`, or a `String` if the text is not a URL.
    case url
    /// An `NSURL`, or an `NSString` if the text is not a URL.
    case nsURL
    /// An `NSString`.
    case nsString
    /// No identifier.
    case none
}

/// The reason that a player asks whether to retry a key request.
public enum RetryCause: String, Sendable, Hashable, CaseIterable {
    /// The license arrived too late for its SPC.
    case timedOut
    /// The lease had already ended when the license arrived.
    case expiredLease
    /// The license answers an earlier SPC.
    case obsolete
}

/// A stand-in's behavior where real players vary or misbehave.
public struct StandInBehavior: Sendable, Hashable {
    /// The misbehaviors. Defaults to none.
    public var misbehaviors: Set<Misbehavior> = []
    /// The form of the identifiers of keys that a stream requests.
    public var identifierForm = IdentifierForm.string
    /// Reasons to reject the next licenses, one each, without checking them.
    public var retries: [RetryCause] = []
    /// Whether requests can become persistable.
    public var persistence = Persistence.allowed
    /// Whether SPCs may contain a random device identifier. Not every playback destination supports that.
    public var allowsRandomDeviceIdentifiers = true
    /// How long an SPC may wait for its license. Defaults to 10 minutes.
    public var lifetimeOfSPC = Duration.seconds(600)

    /// Whether keys can be stored.
    public enum Persistence: String, Sendable, Hashable {
        /// They can be stored.
        case allowed
        /// The platform cannot store them, or playback is elsewhere: the switch throws.
        case refused
    }

    /// - Parameter misbehaviors: the misbehaviors.
    public init(_ misbehaviors: Set<Misbehavior> = []) { self.misbehaviors = misbehaviors }
}
