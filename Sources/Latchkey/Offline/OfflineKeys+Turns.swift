import Foundation
import LatchkeyCore

/// Getting a title's keys.
extension OfflineKeys {
    /// Runs a body when no other call runs one for the title, so that two calls do not both get its keys.
    /// - Throws: the body's error; `CancellationError` if the task is cancelled while it waits.
    package func alone<Value>(with asset: AssetID, _ body: () async throws -> Value) async throws -> Value {
        try await fetching.alone(with: asset, body)
    }
}

/// Changes: in turn, whole or not at all.
extension OfflineKeys {
    /// The values that a turn may change.
    struct Draft {
        var index: OfflineIndex
        private(set) var now: Date
        fileprivate var clock: OfflineClock
        fileprivate var added: [StoredItem: Secret] = [:]

        /// Trusts the device's date.
        mutating func trust(_ date: Date) {
            clock.trust(date)
            now = date
        }

        /// Stores a key's bytes under a fresh name.
        mutating func add(_ bytes: Secret, using generator: any RandomNumberGenerator) -> StoredItem {
            var generator = generator
            let item = StoredItem.key(using: &generator)
            added[item] = bytes
            return item
        }
    }

    typealias Change<Value> = @Sendable (inout Draft) async throws(OfflineError) -> Value

    /// Waits for its turn, and makes a change.
    func change<Value: Sendable>(_ body: @escaping Change<Value>) async throws(OfflineError) -> Value {
        try await turns.result { () async throws(OfflineError) in try await self.change(inTurn: body) }
    }

    /// Makes a change in its turn, for a caller that does not wait; a failure is an event.
    func changeLater(_ key: KeyURI?, _ body: @escaping Change<Void>) {
        turns.add {
            do throws(OfflineError) { try await self.change(inTurn: body) } catch {
                self.report(key, nil, .storeFailed(error))
            }
        }
    }

    /// Makes a change immediately, for the caller whose turn it is.
    func change<Value>(inTurn body: Change<Value>) async throws(OfflineError) -> Value {
        let (date, uptime) = (timekeeper.date, timekeeper.uptime)
        let old = try await keyIndex.index(date)
        var clock = clock ?? OfflineClock(trusted: old.latest, uptime: uptime)
        let now = clock.now(date, uptime)
        var draft = Draft(index: old, now: now, clock: clock)
        let value = try await body(&draft)
        let isNew = draft.index != old
        let lag = draft.clock.trusted.timeIntervalSince(old.latest)
        if isNew || lag > Self.latestLag {
            draft.index.latest = draft.clock.trusted
            try await keyIndex.commit(draft.index, adding: draft.added)
        }
        show(draft, isNew: isNew)
        return value
    }

    /// Checks for expired keys.
    func wake() async { changeLater(nil) { _ in } }

    private func show(_ draft: Draft, isNew: Bool) {
        let expired = remember(draft.clock, draft.index, at: draft.now)
        for key in expired { report(key, draft.index.asset(needing: key), .storedKeyExpired) }
        if isNew || !expired.isEmpty || listeners.isBehind { listeners.send(draft.index.list(at: draft.now)) }
    }

    /// How far the stored date may lag behind the trusted one, in seconds, before a turn that changes nothing else writes it.
    private static let latestLag = 3_600.0
}
