package import Foundation
package import LatchkeyCore

/// Records in this process: for one node whose sessions may be forgotten when it ends, and the model for the other stores.
///
/// Source: `Documentation/LicenseServer.md` §7.
package final class MemoryRecordStore: RecordStore {
    fileprivate struct Held {
        var record: Record
        var end: Date
    }

    fileprivate struct State {
        var records: [RecordKey: Held] = [:]
        /// How many records there were after the last look for ended ones.
        var kept = 0
    }

    package let engine = "memory"
    package var answersAtOnce: Bool { true }
    private let state = Locked(State())
    private let timekeeper: any Timekeeper
    private let limit: Int

    /// - Parameters:
    ///   - limit: how many records are held at once; beyond it the store is full. Defaults to a million.
    ///   - timekeeper: the time. Defaults to the machine's.
    package init(limit: Int = 1_000_000, timekeeper: any Timekeeper = SystemTimekeeper()) {
        self.limit = max(1, limit)
        self.timekeeper = timekeeper
    }

    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        let now = timekeeper.date
        return RecordReading(record: state.withLock { $0.records[key].flatMap { $0.at(now) } }, now: now)
    }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date
    ) async throws(StoreError) -> Bool {
        try key.check(for: engine)
        try record.check(for: engine)
        let now = timekeeper.date
        let hasRoom: Bool? = state.withLock { state in
            let held = state.records[key].flatMap { $0.at(now) }
            guard held?.version == replaced else { return nil }
            if state.records[key] == nil {
                state.forgetEnded(at: now, limit: limit)
                guard state.records.count < limit else { return false }
            }
            state.records[key] = Held(record: record, end: end)
            return true
        }
        guard hasRoom != false else {
            throw StoreError(.full, engine, reason: "The memory holds \(limit) records, and none of them has ended.")
        }
        return hasRoom == true
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        let now = timekeeper.date
        return state.withLock { state in
            guard state.records[key]?.at(now)?.version == version else { return false }
            state.records[key] = nil
            return true
        }
    }

    package func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        let now = timekeeper.date
        let named = state.withLock { state in
            state.records.compactMap { key, held -> NamedRecord? in
                guard key.kind == kind, key.tenant.equalsByteForByte(tenant), key.name.utf8.starts(with: prefix.utf8),
                    let record = held.at(now)
                else { return nil }
                return NamedRecord(name: key.name, record: record, end: held.end)
            }
        }
        let sorted = named.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let rest = sorted.drop { one in name.map { !$0.utf8.lexicographicallyPrecedes(one.name.utf8) } ?? false }
        return Array(rest.prefix(max(1, min(limit, 1_000))))
    }

    package func sum(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ value: @escaping @Sendable ([UInt8]) -> Int
    ) async throws(StoreError) -> RecordSum {
        let now = timekeeper.date
        let (found, isWhole) = state.withLock { state in
            var found: [Record] = []
            for (key, held) in state.records {
                guard found.count < most else { return (found, false) }
                guard key.kind == kind, key.tenant.equalsByteForByte(tenant) else { continue }
                if let record = held.at(now) { found.append(record) }
            }
            return (found, true)
        }
        return RecordSum(found.reduce(0) { $0 + value($1.bytes) }, isWhole: isWhole)
    }
}

extension MemoryRecordStore.Held {
    /// The record, unless its end has come.
    fileprivate func at(_ now: Date) -> Record? { now < end ? record : nil }
}

extension MemoryRecordStore.State {
    /// Forgets ended records when there are twice as many as after the last time, so that a write costs the same on the whole.
    fileprivate mutating func forgetEnded(at now: Date, limit: Int) {
        guard records.count >= min(limit, max(1_024, kept * 2)) else { return }
        records = records.filter { now < $0.value.end }
        kept = records.count
    }
}
