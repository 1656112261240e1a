package import Foundation
package import LatchkeyCore
package import LatchkeySystem

/// Records in this process: for one node whose sessions may be forgotten when it ends, and the model for the other stores.
///
/// Source: `Documentation/LicenseServer.md` §7.
package final class MemoryRecordStore: RecordStore {
    fileprivate struct Held {
        var record: Record
        var end: Date
        /// The ends of the things in it that count.
        var ends: [Date]
    }

    fileprivate struct State {
        var records: [RecordKey: Held] = [:]
        /// How many records were left after the last removal of ended ones.
        var kept = 0
        var counts: [CountKey: CountByEnd] = [:]
    }

    fileprivate struct CountKey: Hashable {
        let kind: RecordKey.Kind
        /// Bytes, because two Unicode forms of one letter are two names.
        let tenant: [UInt8]

        init(_ kind: RecordKey.Kind, _ tenant: String) { (self.kind, self.tenant) = (kind, Array(tenant.utf8)) }
    }

    package let engine = "memory"
    package let reach = EngineReach.memory
    private let state = Locked(State())
    private let timekeeper: any Timekeeper
    private let limit: Int

    /// - Parameters:
    ///   - limit: the most records held at the same time; beyond it the store is full. Defaults to a million.
    ///   - timekeeper: the time. Defaults to the machine's.
    package init(limit: Int = 1_000_000, timekeeper: any Timekeeper = SystemTimekeeper()) {
        self.limit = max(1, limit)
        self.timekeeper = timekeeper
    }

    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading { reading(of: key) }

    /// The current reading of a record.
    package func reading(of key: RecordKey) -> RecordReading {
        let now = timekeeper.date
        return RecordReading(record: state.withLock { $0.records[key].flatMap { $0.at(now) } }, now: now)
    }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try put(record, at: key, replacing: replaced, until: end, counting: ends)
    }

    /// Writes a record, unless it has another version by now.
    /// - Returns: whether it was written.
    /// - Throws: `StoreError`.
    package func put(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) throws(StoreError) -> Bool {
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
            state.put(Held(record: record, end: end, ends: ends), at: key, now)
            return true
        }
        guard hasRoom != false else {
            throw StoreError(
                .full, engine,
                reason: "The memory store has reached its limit of \(limit) records, and none has expired.")
        }
        return hasRoom == true
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        let now = timekeeper.date
        return state.withLock { state in
            guard state.records[key]?.at(now)?.version == version else { return false }
            state.put(nil, at: key, now)
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

    package func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        let now = timekeeper.date
        let count = state.withLock { $0.counts[.init(kind, tenant)]?.count(after: now) }
        return RecordCount(count ?? 0, isWhole: true)
    }
}

extension MemoryRecordStore.Held {
    /// The record, unless its end has come.
    fileprivate func at(_ now: Date) -> Record? { now < end ? record : nil }
}

extension MemoryRecordStore.State {
    /// Replaces or removes a record, and keeps the counts.
    fileprivate mutating func put(_ held: MemoryRecordStore.Held?, at key: RecordKey, _ now: Date) {
        let (former, new) = (records[key]?.ends ?? [], held?.ends ?? [])
        records[key] = held
        guard !former.isEmpty || !new.isEmpty else { return }
        counts[.init(key.kind, key.tenant), default: CountByEnd()].replace(former, by: new, at: now)
    }

    /// Forgets ended records when there are twice as many as after the last time, so that the cost of writes stays constant on average.
    fileprivate mutating func forgetEnded(at now: Date, limit: Int) {
        guard records.count >= min(limit, max(1_024, kept * 2)) else { return }
        records = records.filter { now < $0.value.end }
        kept = records.count
    }
}
