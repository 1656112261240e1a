public import Foundation
public import LatchkeyCore
import LatchkeyDevice
public import LatchkeyPlayback

/// The environment of stand-in players: clock, network, behavior and log. Each test has its own.
///
/// A stand-in object uses the stage that is current when the object is made; without one it makes its own. So concurrent tests do
/// not affect each other:
///
///     let stage = StandInStage(timekeeper: time)
///     try await stage.run { try await play() }
public final class StandInStage: Sendable {
    /// The stage of the running task.
    @TaskLocal public static var current: StandInStage?

    /// Measures leases and the lifetimes of SPCs.
    public let timekeeper: any Timekeeper
    /// Loads playlists and media.
    public let resources: any ResourceFetching
    /// The hashes of the clear stream, for verdicts.
    public let reference: ReferenceHashes?
    /// The results of decoding so far; `nil` if every playback decodes.
    public let decodings: DecodingMemory?
    /// The time after which a callback counts as blocked, in real time.
    public let callbackLimit: Duration
    /// The log.
    public let log = StandInLog()

    private let state: Locked<StandInBehavior>
    private let advisoryKeys = Locked<[String: StandInKey]>([:])
    private let held = Locked<[any Sendable]>([])
    let vault: KeyVault
    let onlyOnes = OnlyOnes()

    /// - Parameters:
    ///   - behavior: the behavior of the players. Defaults to that of the documentation.
    ///   - timekeeper: the clocks of the device. Defaults to the system's.
    ///   - resources: loads playlists and media. Defaults to http, https and files.
    ///   - reference: the hashes of the clear stream.
    ///   - decodings: results of decoding that several stages share. Defaults to none.
    ///   - callbackLimit: the maximum duration of a callback, in real time. Defaults to 5 seconds.
    public init(
        _ behavior: StandInBehavior = StandInBehavior(), timekeeper: any Timekeeper = SystemTimekeeper(),
        resources: any ResourceFetching = StandInResources(), reference: ReferenceHashes? = nil,
        decodings: DecodingMemory? = nil, callbackLimit: Duration = .seconds(5)
    ) {
        state = Locked(behavior)
        self.timekeeper = timekeeper
        vault = KeyVault(timekeeper: timekeeper)
        self.resources = resources
        self.reference = reference
        self.decodings = decodings
        self.callbackLimit = callbackLimit
    }

    /// The behavior of the players. It can be changed during playback.
    public var behavior: StandInBehavior {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Runs a closure on this stage. Stand-in objects that are made in it and its child tasks use the stage.
    public func run<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await Self.$current.withValue(self, operation: body)
    }

    /// Whether the players have a misbehavior.
    public func misbehaves(_ misbehavior: Misbehavior) -> Bool {
        state.withLock { $0.misbehaviors.contains(misbehavior) }
    }

    /// Removes a misbehavior that happens once.
    /// - Returns: whether the players had it.
    public func takeMisbehavior(_ misbehavior: Misbehavior) -> Bool {
        state.withLock { $0.misbehaviors.remove(misbehavior) != nil }
    }

    /// Removes and returns the next reason to reject a license.
    public func takeRetry() -> RetryCause? {
        state.withLock { $0.retries.isEmpty ? nil : $0.retries.removeFirst() }
    }

    /// Whether the stage's device accepts a stored key now.
    public func opensStoredKey(_ stored: Data) -> Bool {
        BoundKey(stored).map { (try? vault.open($0.sealed)) != nil } ?? false
    }

    /// Keeps a key in the device that a service delivered in advance, for players that support advisory keys.
    /// - Parameters:
    ///   - key: the key; `nil` to remove it.
    ///   - identifier: the key's URI.
    public func keepAdvisoryKey(_ key: StandInKey?, of identifier: String) {
        advisoryKeys.withLock { $0[identifier] = key }
    }

    /// An advisory key of the device that is valid now.
    public func advisoryKey(of identifier: String) -> StandInKey? {
        advisoryKeys.withLock { $0[identifier] }.flatMap { $0.isUsable ? $0 : nil }
    }

    /// Retains an object until the stage is released, if the players release late.
    public func keepIfReleasingLate(_ object: any Sendable) {
        guard misbehaves(.releasesLate) else { return }
        held.withLock { $0.append(object) }
    }
}
