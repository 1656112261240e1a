import Foundation
package import LatchkeyCore

/// The keys that an app stores to play without a network: `loader.offline`.
///
/// An asset is registered with the keys of all renditions that the app chose. Each key is then fetched through the player, as a
/// `PersistableKeyRequest`, and stored with its license's windows. The asset is ready when all its keys are stored.
///
///     try await offline.register("movie-1", keys: [audio, sd, hd])
///     for await assets in offline.changes() { show(assets) }
///
/// A player adapter asks `asset(needing:)` before it makes a key request persistable, and reports the player's use of the keys:
/// `updated(_:to:)`, `started(_:)` and `rejected(_:)`. All functions take turns, in the order of the calls. Safe to use from any thread.
public final class OfflineKeys: Sendable {
    typealias Report = @Sendable (KeyURI?, AssetID?, KeyEvent.Kind) -> Void

    let policy: OfflinePolicy
    /// Whether the vendor renews stored keys.
    let renews: Bool
    let report: Report
    let names: KeyNames
    let keyIndex: KeyIndex
    let timekeeper: any Timekeeper
    let generator: @Sendable () -> any RandomNumberGenerator
    let turns = SerialTasks()
    let listeners = AssetListeners()
    /// The titles whose keys are being fetched; each promise is resolved when they were.
    let fetching = Locked<[AssetID: Promise<Void, Never>]>([:])
    private let alarm: Alarm
    private let state = Locked(State())

    private struct State {
        var clock: OfflineClock?
        /// The keys that are known to have expired; nil before the index was read.
        var expired: Set<KeyURI>?
        /// The keys that a player rejected and that were not played since.
        var rejected: Set<KeyURI> = []
        var isClosed = false
    }

    package init(
        _ store: any PersistableKeyStore, policy: OfflinePolicy = OfflinePolicy(), renews: Bool = true,
        timekeeper: any Timekeeper,
        generator: @escaping @Sendable () -> any RandomNumberGenerator = { SystemRandomNumberGenerator() },
        identifier: @escaping @Sendable (KeyURI) throws -> ContentIdentifier = { ContentIdentifier($0.raw) },
        report: @escaping @Sendable (KeyURI?, AssetID?, KeyEvent.Kind) -> Void = { _, _, _ in }
    ) {
        self.policy = policy
        self.renews = renews
        self.report = report
        names = KeyNames(policy.sessionItems, identifier)
        self.timekeeper = timekeeper
        self.generator = generator
        keyIndex = KeyIndex(store)
        alarm = Alarm(timekeeper)
    }

    deinit { close() }

    /// Ends the streams of `changes()` and the wait for the end of a window. Keys are still stored and found: late reports from a player
    /// must not be lost.
    func close() {
        state.withLock { state in
            state.isClosed = true
            alarm.clear()
        }
        listeners.finish()
    }
}

// MARK: - State between turns

extension OfflineKeys {
    /// The clock after the last turn.
    var clock: OfflineClock? { state.withLock { $0.clock } }

    /// Notes that a player rejected a key.
    /// - Returns: whether it is the first time since the key was last played or requested.
    func noteRejection(of key: KeyURI) -> Bool {
        state.withLock { $0.rejected.insert(names.name(of: key) ?? key).inserted }
    }

    func forgetRejections(of keys: Set<KeyURI>) {
        state.withLock { $0.rejected.subtract(keys.map { names.name(of: $0) ?? $0 }) }
    }

    /// Stores the clock, and sets the alarm for the next expiry.
    /// - Returns: the keys that expired since the last turn.
    func remember(_ clock: OfflineClock, _ index: OfflineIndex, at now: Date) -> Set<KeyURI> {
        let expired = index.expired(at: now)
        let uptime = timekeeper.uptime
        return state.withLock { state in
            defer { state.expired = expired }
            state.clock = clock
            let ends = index.nextEnd(after: now).map { uptime + $0 }
            let due = [ends, index.hasWindows ? clock.settles : nil].compactMap { $0 }.min()
            if let due, !state.isClosed {
                alarm.set(at: due) { [weak self] in await self?.wake() }
            } else {
                alarm.clear()
            }
            return expired.subtracting(state.expired ?? expired)
        }
    }
}
