import Foundation
import LatchkeyCore
import LatchkeyVault

/// A node's memory of Redis, so that it can guess: the clocks of servers, and the records that it wrote last. A wrong guess costs only
/// a trip.
final class RedisMemory: Sendable {
    private struct Clock {
        /// The server's time minus this machine's uptime, at most: an answer is older than its arrival.
        var offset: TimeInterval
        var noted: TimeInterval
    }

    private struct State {
        var clocks: [RedisAddress.Endpoint?: Clock] = [:]
        var records: [RecordKey: (record: Record, end: Date)] = [:]
        /// The records of the previous generation, so that roughly the newest are kept.
        var former: [RecordKey: (record: Record, end: Date)] = [:]
    }

    /// The most records of a generation, and the most bytes of one.
    private static let most = 32_768
    private static let longest = 1_024
    /// The most that two clocks drift apart in a second.
    private static let drift = 0.001

    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    init(timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

    private var uptime: TimeInterval { timekeeper.uptime.inSeconds }

    /// Notes the time of a server, received just now.
    func note(_ now: Date, of place: RedisAddress.Endpoint?) {
        let uptime = uptime
        let offset = now.timeIntervalSince1970 - uptime
        state.withLock { state in
            let former = state.clocks[place].map { $0.offset - Self.drift * (uptime - $0.noted) }
            // A clock that was set back is trusted.
            let isSetBack = former.map { offset < $0 - 1 } ?? true
            let latest = isSetBack ? offset : max(offset, former ?? offset)
            state.clocks[place] = Clock(offset: latest, noted: uptime)
        }
    }

    /// The time of a server in whole milliseconds, never ahead of it; `nil` if unknown.
    func now(of place: RedisAddress.Endpoint?) -> Date? {
        let uptime = uptime
        guard let clock = state.withLock({ $0.clocks[place] }) else { return nil }
        let now = clock.offset + uptime - Self.drift * (uptime - clock.noted)
        return Date(timeIntervalSince1970: (now * 1_000).rounded(.down) / 1_000)
    }

    func note(_ record: Record, until end: Date, at key: RecordKey) {
        guard record.bytes.count <= Self.longest else { return forget(key) }
        state.withLock { state in
            state.records[key] = (record, end)
            guard state.records.count >= Self.most else { return }
            (state.former, state.records) = (state.records, [:])
        }
    }

    func forget(_ key: RecordKey) {
        state.withLock { state in
            state.records[key] = nil
            state.former[key] = nil
        }
    }

    /// The record as this node last wrote it; `nil` if it has ended, or is unknown.
    func record(_ key: RecordKey, at now: Date) -> Record? {
        guard let held = state.withLock({ $0.records[key] ?? $0.former[key] }), held.end > now else { return nil }
        return held.record
    }
}
