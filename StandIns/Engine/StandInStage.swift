public import Foundation
public import LatchkeyCore
import LatchkeyDevice
public import LatchkeyPlayback

/// What a stand-in player plays on: its clock, its network, its behavior and its log. One per test.
///
/// A stand-in object takes the stage that is current where it is made; without one it makes its own. So tests that run at
/// the same time do not see each other:
///
///     let stage = StandInStage(timekeeper: time)
///     try await stage.run { try await play() }
public final class StandInStage: Sendable {
    /// The stage of the running task.
    @TaskLocal public static var current: StandInStage?

    /// Counts down leases and the lives of SPCs.
    public let timekeeper: any Timekeeper
    /// Loads playlists and media.
    public let resources: any ResourceFetching
    /// The hashes of the clear stream, for verdicts that rest on them.
    public let reference: ReferenceHashes?
    /// How long a callback may take before it counts as blocked, in real time; a failure detector.
    public let callbackLimit: Duration
    /// What happened.
    public let log = StandInLog()

    private let state: Locked<StandInBehavior>
    private let held = Locked<[any Sendable]>([])
    let vault: KeyVault
    let onlyOnes = OnlyOnes()

    /// - Parameters:
    ///   - behavior: how the players behave; correctly unless given.
    ///   - timekeeper: the clocks of the device; the machine's unless given.
    ///   - resources: loads playlists and media; from http, https and files unless given.
    ///   - reference: the hashes of the clear stream.
    ///   - callbackLimit: how long a callback may take; 5 seconds of real time unless given.
    public init(
        _ behavior: StandInBehavior = StandInBehavior(), timekeeper: any Timekeeper = SystemTimekeeper(),
        resources: any ResourceFetching = StandInResources(), reference: ReferenceHashes? = nil,
        callbackLimit: Duration = .seconds(5)
    ) {
        state = Locked(behavior)
        self.timekeeper = timekeeper
        vault = KeyVault(timekeeper: timekeeper)
        self.resources = resources
        self.reference = reference
        self.callbackLimit = callbackLimit
    }

    /// How the players behave; may be changed while they play.
    public var behavior: StandInBehavior {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Runs a body on this stage: stand-in objects that are made in it, and in its tasks, take part.
    public func run<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await Self.$current.withValue(self, operation: body)
    }

    /// Whether the players do a thing against their documentation.
    public func misbehaves(_ misbehavior: Misbehavior) -> Bool {
        state.withLock { $0.misbehaviors.contains(misbehavior) }
    }

    /// Takes a misbehavior away, for one that happens once.
    /// - Returns: whether it was there.
    public func takeMisbehavior(_ misbehavior: Misbehavior) -> Bool {
        state.withLock { $0.misbehaviors.remove(misbehavior) != nil }
    }

    /// Takes the next reason to turn a license down.
    public func takeRetry() -> RetryCause? {
        state.withLock { $0.retries.isEmpty ? nil : $0.retries.removeFirst() }
    }

    /// Whether the stage's device takes a stored key now.
    public func opensStoredKey(_ stored: Data) -> Bool { (try? vault.open(stored)) != nil }

    /// Keeps an object as long as the stage where players release late.
    public func keepIfReleasingLate(_ object: any Sendable) {
        guard misbehaves(.releasesLate) else { return }
        held.withLock { $0.append(object) }
    }
}
