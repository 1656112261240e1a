package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem

/// A store of records whose calls `EngineGuard` guards: each has a time limit, and a store that keeps failing is left alone until it
/// answers a probe outside the calls.
///
/// Source: `Documentation/LicenseServer.md` §1 rule 5, §7.2 and §7.5.
package final class GuardedRecordStore: RecordStore {
    package var engine: String { store.engine }
    package var reach: EngineReach { store.reach }
    /// The state of the store.
    package var health: EngineHealth { guarded.health }
    package let guarded: EngineGuard
    /// The store, if it answers immediately; `nil` for one that has to be waited for.
    package let immediate: ImmediateRecords?
    private let store: any RecordStore
    private let singleTrip: (any SingleTripStore)?

    /// - Parameters:
    ///   - store: the store.
    ///   - role: its role, for reports.
    ///   - limits: the time limit, and when it is left alone.
    ///   - region: the store's region. Defaults to no region.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - report: takes times and errors. Called on any thread; must not wait.
    package init(
        _ store: any RecordStore, for role: Engine, _ limits: RecordStoreLimits = RecordStoreLimits(),
        region: String? = nil, timekeeper: any Timekeeper = SystemTimekeeper(),
        report: @escaping @Sendable (RecordStoreEvent) -> Void
    ) {
        self.store = store
        singleTrip = store as? any SingleTripStore
        let health = EngineHealth(
            role.rawValue, engine: store.engine, region: region,
            limits: store.reach == .network ? limits.breaker : .embedded, timekeeper: timekeeper)
        guarded = EngineGuard(
            health, limit: store.reach == .memory ? nil : limits.time, probing: [.read, .write],
            report: { operation, time, error in
                if let error { report(.failed(role, error)) }
                report(.took(role, operation, time))
                if let region { report(.tookInRegion(region, time)) }
            }, question: { try await store.probe($0, role == .tokenStore ? .token : .account) })
        immediate = (store as? MemoryRecordStore).map { [guarded] in ImmediateRecords(store: $0, guarded: guarded) }
    }

    private func call<Value: Sendable>(
        _ operation: EngineOperation, _ key: RecordKey? = nil, _ body: @escaping @Sendable () async throws -> Value
    ) async throws(StoreError) -> Value {
        let part = key.flatMap { singleTrip?.part(of: $0) } ?? 0
        return try await guarded.call(EngineWork(operation, part: part), body)
    }

    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        try await call(.read, key) { [store] in try await store.read(key) }
    }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try key.check(for: engine)
        try record.check(for: engine)
        return try await call(.write, key) { [store] in
            try await store.write(record, at: key, replacing: replaced, until: end, counting: ends)
        }
    }

    /// A record as the node knows it; read from the store if the node knows nothing, or if an extra trip costs nothing.
    /// - Throws: `StoreError`.
    package func known(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        if let guess = singleTrip?.guess(key) { return guess }
        return try await read(key)
    }

    /// Writes a record; returns the stored one if another writer was faster, or if the reading was a wrong guess.
    /// - Returns: `nil` if it was written.
    /// - Throws: `StoreError`.
    package func exchange(
        _ record: Record, at key: RecordKey, knowing reading: RecordReading, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> RecordReading? {
        guard let singleTrip else {
            let isWritten = try await write(
                record, at: key, replacing: reading.record?.version, until: end, counting: ends)
            return isWritten ? nil : try await read(key)
        }
        try key.check(for: engine)
        try record.check(for: engine)
        return try await call(.write, key) {
            try await singleTrip.exchange(record, at: key, knowing: reading, until: end, counting: ends)
        }
    }

    /// Extends a slot in one trip; `nil` if the store cannot.
    /// - Throws: `StoreError`.
    package func extend(_ slot: SlotExtension, at key: RecordKey) async throws(StoreError) -> SlotExtension.Answer? {
        guard let singleTrip else { return nil }
        return try await call(.write, key) { try await singleTrip.extend(slot, at: key) }
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        try await call(.write, key) { [store] in try await store.remove(key, version: version) }
    }

    package func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        let limit = StoreLimits.page(limit)
        return try await call(.list) { [store] in
            try await store.page(of: kind, tenant, prefix: prefix, after: name, limit: limit)
        }
    }

    package func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        try await call(.list) { [store] in try await store.count(of: kind, tenant, most: most, ends) }
    }
}

extension RecordStore {
    /// Does a kind of work as for a viewer, without one: reads or writes a short-lived record of no viewer, in the part in question.
    fileprivate func probe(_ work: EngineWork, _ kind: RecordKey.Kind) async throws(StoreError) {
        let single = self as? any SingleTripStore
        let keys = (0..<4_096).lazy.map { RecordKey(kind, tenant: "-", name: "probe-\($0)") }
        guard let key = keys.first(where: { (single?.part(of: $0) ?? 0) == work.part }) else { return }
        guard work.operation != .list else {
            _ = try await page(of: kind, key.tenant, prefix: key.name, after: nil, limit: 1)
            return
        }
        let reading = try await read(key)
        guard work.operation == .write else { return }
        _ = try await write(
            Record(version: reading.nextVersion, bytes: [1]), at: key, replacing: reading.record?.version,
            until: reading.now + 60, counting: kind == .account ? [reading.now + 60] : [])
    }
}

/// A guarded store in this process's memory. It is asked without a task that waits for it.
package struct ImmediateRecords: Sendable {
    fileprivate let store: MemoryRecordStore
    fileprivate let guarded: EngineGuard

    /// - Throws: `StoreError`.
    package func read(_ key: RecordKey) throws(StoreError) -> RecordReading {
        try guarded.callAtOnce(EngineWork(.read)) { () throws(StoreError) in store.reading(of: key) }
    }

    /// Writes a record unless it has changed meanwhile.
    /// - Returns: whether it was written.
    /// - Throws: `StoreError`.
    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date] = []
    ) throws(StoreError) -> Bool {
        try key.check(for: store.engine)
        try record.check(for: store.engine)
        return try guarded.callAtOnce(EngineWork(.write)) { () throws(StoreError) in
            try store.put(record, at: key, replacing: replaced, until: end, counting: ends)
        }
    }
}

/// The guarded stores of records: one, or one for each region, so that a store that is down affects only its own accounts.
package struct GuardedRecords: Sendable {
    /// The guard of each store, in the order of the regions' names.
    package let parts: [GuardedRecordStore]
    /// All of them, for pages and counts.
    package let all: any RecordStore
    private let regions: RegionalRecordStore?

    /// - Parameters: as those of `GuardedRecordStore`.
    package init(
        _ store: any RecordStore, for role: Engine, _ limits: RecordStoreLimits = RecordStoreLimits(),
        timekeeper: any Timekeeper = SystemTimekeeper(),
        report: @escaping @Sendable (RecordStoreEvent) -> Void = { _ in }
    ) {
        let given = store as? RegionalRecordStore
        let stores: [(region: String?, store: any RecordStore)] =
            given?.stores.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } ?? [(nil, store)]
        let parts = stores.map {
            GuardedRecordStore($0.store, for: role, limits, region: $0.region, timekeeper: timekeeper, report: report)
        }
        regions = RegionalRecordStore(
            Dictionary(uniqueKeysWithValues: parts.compactMap { part in part.health.region.map { ($0, part) } }))
        self.parts = parts
        all = regions ?? parts[0]
    }

    /// The names of the engines.
    package var engine: String { all.engine }

    /// The guard of the store that keeps a record.
    package subscript(key: RecordKey) -> GuardedRecordStore {
        guard let regions else { return parts[0] }
        let home = regions.home(of: key)
        return parts.first { $0.health.region == home } ?? parts[0]
    }

    /// Probes the work that is in doubt, or else all of it.
    package func probe() async {
        await withTaskGroup { group in
            for part in parts { group.addTask { await part.guarded.probe() } }
        }
    }
}

/// How patient a server is with a store of records.
package struct RecordStoreLimits: Sendable, Hashable {
    /// How long a call may take.
    package let time: Duration
    /// When the store is left alone.
    package let breaker: CircuitBreaker.Limits

    /// - Parameters:
    ///   - time: how long a call may take. Defaults to 50 ms.
    ///   - breaker: when the store is left alone. Defaults to a second, once it has failed for two.
    package init(time: Duration = .milliseconds(50), breaker: CircuitBreaker.Limits = .init()) {
        self.time = time
        self.breaker = breaker
    }
}

/// A store's events for metrics and logs. Its health reports when it is unavailable.
package enum RecordStoreEvent: Sendable, Equatable {
    /// A call failed, or a record is damaged.
    case failed(Engine, StoreError)
    /// The time that a call took, whatever its outcome.
    case took(Engine, EngineOperation, Duration)
    /// The same call, by the region of the store.
    case tookInRegion(String, Duration)
}
