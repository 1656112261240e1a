import LatchkeyCore

/// Counts for dashboards: how many keys came, from where, how fast, and why others did not.
///
/// A loader keeps one for all keys, `loader.statistics`, and one for each of the latest titles and keys, `loader.statistics(of:)`. Make
/// another from events: `count(_:)`. A value; encodes as JSON by its members' names.
public struct KeyStatistics: Sendable, Hashable, Codable {
    /// Key requests that players made.
    public private(set) var requested = 0
    /// Key requests that were answered with a key; including keys from the store; `licenses` counts the others.
    public private(set) var answered = 0
    /// Keys that the license service delivered, including renewals. Keys from the store and from the player's system are not included.
    public private(set) var licenses = 0
    /// Renewals that players requested, including failed ones (`renewalsFailed`).
    public private(set) var renewals = 0
    /// Key requests for keys that the player's system held already.
    package private(set) var heldBySystem = 0
    /// Key requests that were answered with an error, by its code; including cancelled ones.
    public private(set) var failures: [String: Int] = [:]
    /// Key requests that a stored key answered.
    package private(set) var answeredFromStore = 0
    /// Keys that were stored.
    package private(set) var stored = 0
    /// HTTP requests that got a reply.
    package private(set) var exchanged = 0
    /// HTTP requests that got none.
    package private(set) var unanswered = 0
    /// Failed attempts that were followed by another.
    public private(set) var retries = 0
    /// Renewals that failed.
    public private(set) var renewalsFailed = 0
    /// Keys whose life ended although they were still wanted.
    public private(set) var ended = 0
    /// The time from a request to its key.
    public private(set) var timeToKey = Timing()
    /// The time of each stage, by its name.
    public private(set) var stages: [String: Timing] = [:]

    /// Nothing counted yet.
    package init() {}

    /// Key requests that were answered with an error.
    public var failed: Int { failures.values.reduce(0, +) }

    /// Key requests that have not ended.
    public var open: Int { max(0, requested - answered - heldBySystem - failed) }

    /// Times, in milliseconds.
    public struct Timing: Sendable, Hashable, Codable {
        /// How many.
        public private(set) var count = 0
        /// All together.
        package private(set) var total = 0.0
        /// The longest.
        public private(set) var longest = 0.0

        /// The mean; 0 if there is none.
        public var mean: Double { count == 0 ? 0 : total / Double(count) }

        mutating func add(_ time: Duration) {
            let milliseconds = time.inMilliseconds
            count += 1
            total += milliseconds
            longest = max(longest, milliseconds)
        }
    }
}

extension KeyStatistics {
    /// The number of distinct codes; later ones count as `other`.
    private static let codeLimit = 100

    /// Counts an event.
    package mutating func count(_ event: KeyEvent) {
        switch event.kind {
        case .requested(let purpose):
            requested += 1
            if purpose == .renewal { renewals += 1 }
        case .answered(let took):
            answered += 1
            licenses = answered - answeredFromStore
            timeToKey.add(took)
        case .heldBySystem: heldBySystem += 1
        case .failed(let error, _):
            let isKnown = failures[error.code] != nil || failures.count < Self.codeLimit
            failures[isKnown ? error.code : "other", default: 0] += 1
        case .stageEnded(let stage, let took): stages[stage.rawValue, default: Timing()].add(took)
        case .exchanged: exchanged += 1
        case .unanswered: unanswered += 1
        case .retrying: retries += 1
        case .renewalFailed: renewalsFailed += 1
        case .ended: ended += 1
        case .answeredFromStore: answeredFromStore += 1
        case .keyStored: stored += 1
        default: break
        }
    }
}
