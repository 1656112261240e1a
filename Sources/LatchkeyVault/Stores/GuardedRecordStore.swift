package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem

/// A store that costs nobody much time when it is out of service: each call has a time limit, and a store that fails again and again is
/// left alone until it answers a question that is asked beside the calls.
///
/// A call goes on when the task that waits for it is cancelled: nobody would know whether it wrote.
///
/// Source: `Documentation/LicenseServer.md` §1 rule 5 and §7.2.
package final class GuardedRecordStore: RecordStore {
    private struct State {
        /// For each part of the store: one that fails takes the others along for nobody.
        var breakers: [Int: CircuitBreaker] = [:]
        /// The parts that got no answer last, each with a record there to ask for.
        var out: [Int: RecordKey] = [:]
    }

    /// A question about a part of the store.
    private struct Question {
        let part: Int
        let key: RecordKey
        let permit: CircuitBreaker.Permit
    }

    package var engine: String { store.engine }
    package var answersAtOnce: Bool { store.answersAtOnce }
    private let store: any RecordStore
    private let singleTrip: (any SingleTripStore)?
    private let role: Engine
    private let limits: RecordStoreLimits
    private let timekeeper: any Timekeeper
    private let report: @Sendable (RecordStoreEvent) -> Void
    private let state: Locked<State>
    /// The stores of the regions, each with a guard of its own, so that one that is away costs the accounts of the others nothing; `nil`
    /// for one store.
    private let regions: RegionalRecordStore?
    /// The guards of the regions; of one store itself.
    package var parts: [GuardedRecordStore] {
        regions.map { regions in regions.stores.sorted { $0.key < $1.key }.compactMap { $0.value as? Self } } ?? [self]
    }
    /// Whether the store answers, for everybody who asks how the node stands.
    package let health: EngineHealth

    /// - Parameters:
    ///   - store: the store.
    ///   - role: what it is for, for reports.
    ///   - limits: the time limit, and when it is left alone.
    ///   - region: whose store it is. Defaults to no region.
    ///   - health: notes whether it answers. Defaults to one of its own.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - report: takes times, errors, and outages as they begin and end. Called on any thread; must not wait.
    package init(
        _ store: any RecordStore, for role: Engine, _ limits: RecordStoreLimits = RecordStoreLimits(),
        region: String? = nil, health: EngineHealth? = nil, timekeeper: any Timekeeper = SystemTimekeeper(),
        report: @escaping @Sendable (RecordStoreEvent) -> Void
    ) {
        self.store = store
        singleTrip = store as? any SingleTripStore
        self.role = role
        self.limits = limits
        self.timekeeper = timekeeper
        self.report = report
        state = Locked(State())
        self.health =
            health ?? EngineHealth(role.rawValue, engine: store.engine, region: region, timekeeper: timekeeper)
        regions = (store as? RegionalRecordStore).flatMap { regional in
            RegionalRecordStore(
                Dictionary(
                    uniqueKeysWithValues: regional.stores.map { name, store in
                        let guarded = GuardedRecordStore(store, for: role, limits, region: name, timekeeper: timekeeper)
                        { event in
                            report(event)
                            if case .took(_, _, let time) = event { report(.tookInRegion(name, time)) }
                        }
                        return (name, guarded)
                    }))
        }
    }

    /// Whether the last call to some part got no answer.
    package var isOut: Bool { regions == nil ? state.withLock { !$0.out.isEmpty } : parts.contains(where: \.isOut) }

    /// Whether a store that is left alone is being asked whether it is back: of regions, the store of any.
    package var isAsking: Bool {
        guard regions == nil else { return parts.contains(where: \.isAsking) }
        return state.withLock { $0.breakers.values.contains { $0.phase == .halfOpen } }
    }

    /// Asks whether the store answers, as a license would: each part that did not. Does nothing while somebody else asks a store that is
    /// left alone.
    package func probe() async {
        if regions != nil { return await parts.probe() }
        let now = timekeeper.uptime
        let parts = state.withLock { $0.out.isEmpty ? [part(of: Self.nothing): Self.nothing] : $0.out }
        let questions = state.withLock { state in
            parts.compactMap { part, key in
                permit(part, &state, now).map { Question(part: part, key: key, permit: $0) }
            }
        }
        await withTaskGroup { group in
            for question in questions { group.addTask { await self.probe(question) } }
        }
    }

    // Why it failed, the health says.
    private func probe(_ question: Question) async {
        _ = try? await call(.read, question) { try await $0.read(question.key) }
    }

    private func part(of key: RecordKey) -> Int { singleTrip?.part(of: key) ?? 0 }

    private func permit(_ part: Int, _ state: inout State, _ now: Duration) -> CircuitBreaker.Permit? {
        state.breakers[part, default: CircuitBreaker(limits.breaker)].permit(at: now)
    }

    /// A record that nobody writes: tenants' names are not empty.
    private static let nothing = RecordKey(.account, tenant: "-", name: "-")

    /// The guard of the region that keeps a record; `nil` for one store.
    private func home(of key: RecordKey) -> GuardedRecordStore? {
        regions.flatMap { $0.stores[$0.home(of: key)] as? GuardedRecordStore }
    }

    package func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        if let home = home(of: key) { return try await home.read(key) }
        return try await call(.read, key) { try await $0.read(key) }
    }

    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try key.check(for: engine)
        try record.check(for: engine)
        if let home = home(of: key) {
            return try await home.write(record, at: key, replacing: replaced, until: end, counting: ends)
        }
        return try await call(.write, key) {
            try await $0.write(record, at: key, replacing: replaced, until: end, counting: ends)
        }
    }

    /// What the node knows of a record, or what the store says where it knows nothing, or where a trip more or less is nothing.
    /// - Throws: `StoreError`.
    package func known(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        if let home = home(of: key) { return try await home.known(key) }
        if let guess = singleTrip?.guess(key) { return guess }
        return try await read(key)
    }

    /// Writes a record, and gives what is held where somebody else wrote meanwhile, or the reading was guessed wrong.
    /// - Returns: `nil` if it was written.
    /// - Throws: `StoreError`.
    package func exchange(
        _ record: Record, at key: RecordKey, knowing reading: RecordReading, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> RecordReading? {
        if let home = home(of: key) {
            return try await home.exchange(record, at: key, knowing: reading, until: end, counting: ends)
        }
        guard singleTrip != nil else {
            let isWritten = try await write(
                record, at: key, replacing: reading.record?.version, until: end, counting: ends)
            return isWritten ? nil : try await read(key)
        }
        try key.check(for: engine)
        try record.check(for: engine)
        return try await call(.write, key) { store in
            try await (store as? any SingleTripStore)?.exchange(
                record, at: key, knowing: reading, until: end, counting: ends)
        }
    }

    /// Extends a slot in one trip; `nil` where the store does not know how.
    /// - Throws: `StoreError`.
    package func extend(_ slot: SlotExtension, at key: RecordKey) async throws(StoreError) -> SlotExtension.Answer? {
        if let home = home(of: key) { return try await home.extend(slot, at: key) }
        guard singleTrip != nil else { return nil }
        return try await call(.write, key) { try await ($0 as? any SingleTripStore)?.extend(slot, at: key) }
    }

    package func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        if let home = home(of: key) { return try await home.remove(key, version: version) }
        return try await call(.write, key) { try await $0.remove(key, version: version) }
    }

    package func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        let limit = StoreLimits.page(limit)
        if let regions { return try await regions.page(of: kind, tenant, prefix: prefix, after: name, limit: limit) }
        return try await call(.list, Self.nothing) {
            try await $0.page(of: kind, tenant, prefix: prefix, after: name, limit: limit)
        }
    }

    package func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        if let regions { return try await regions.count(of: kind, tenant, most: most, ends) }
        return try await call(.list, Self.nothing) { try await $0.count(of: kind, tenant, most: most, ends) }
    }

    private func call<Value: Sendable>(
        _ operation: StoreOperation, _ key: RecordKey,
        _ body: @escaping @Sendable (any RecordStore) async throws -> Value
    ) async throws(StoreError) -> Value {
        switch leave(to: key) {
        case .call(let question): return try await call(operation, question, body)
        case .probe(let question): startTask { await self.probe(question) }
        case .none: break
        }
        throw StoreError(.unavailable, engine, reason: "The engine failed repeatedly, and is left alone for a while.")
    }

    private enum Leave {
        /// The store is asked.
        case call(Question)
        /// It is time to ask a store that is left alone whether it answers, beside the call, which does not wait for it.
        case probe(Question)
        case none
    }

    private func leave(to key: RecordKey) -> Leave {
        let (now, part) = (timekeeper.uptime, part(of: key))
        return state.withLock { state in
            guard let permit = permit(part, &state, now) else { return .none }
            let isClosed = state.breakers[part]?.phase == .closed || answersAtOnce
            let asked = isClosed ? key : state.out[part] ?? key
            let question = Question(part: part, key: asked, permit: permit)
            return isClosed ? .call(question) : .probe(question)
        }
    }

    private func call<Value: Sendable>(
        _ operation: StoreOperation, _ question: Question,
        _ body: @escaping @Sendable (any RecordStore) async throws -> Value
    ) async throws(StoreError) -> Value {
        let began = timekeeper.uptime
        defer { report(.took(role, operation, timekeeper.uptime - began)) }
        switch await answersAtOnce ? Result({ try await body(store) }) : limited(body) {
        case .success(let value):
            answered(question)
            return value
        case .failure(let error as StoreError):
            failed(error, question)
            throw error
        default:
            let error = StoreError(.unavailable, engine, reason: "The engine gave no answer.")
            failed(error, question)
            throw error
        }
    }

    /// The outcome of a task of its own, which no caller cancels; the deadline ends it.
    private func limited<Value: Sendable>(
        _ body: @escaping @Sendable (any RecordStore) async throws -> Value
    ) async -> Result<Value, any Error>? {
        let (store, engine, limit, timekeeper) = (store, engine, limits.time, timekeeper)
        let promise = Promise<Value, any Error>()
        await startTask {
            promise.resolve(
                await Result {
                    try await withDeadline(
                        limit, timekeeper,
                        expired: {
                            StoreError(
                                .unavailable, engine, reason: "The engine did not answer within \(limit.inWords).")
                        }, { try await body(store) })
                })
        }.value
        return promise.outcome
    }

    private func answered(_ question: Question) {
        let (wasOut, isOut) = state.withLock { state in
            state.breakers[question.part]?.answered(question.permit)
            return (state.out.removeValue(forKey: question.part) != nil, !state.out.isEmpty)
        }
        // Another part may still be out.
        guard !isOut else { return }
        health.note()
        if wasOut { report(.outageEnded(role)) }
    }

    private func failed(_ error: StoreError, _ question: Question) {
        // A store that is full, or holds a damaged record, answers.
        guard error.kind == .unavailable || error.kind == .misconfigured else {
            answered(question)
            return report(.failed(role, error))
        }
        let now = timekeeper.uptime
        let wasOut = state.withLock { state in
            state.breakers[question.part]?.failed(question.permit, at: now)
            defer { state.out[question.part] = question.key }
            return !state.out.isEmpty
        }
        health.note(error)
        if !wasOut { report(.outageBegan(role)) }
        report(.failed(role, error))
    }
}

extension [GuardedRecordStore] {
    /// Asks all at once whether they answer.
    fileprivate func probe() async {
        await withTaskGroup { group in
            for one in self { group.addTask { await one.probe() } }
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
    ///   - breaker: when the store is left alone. Defaults to a second after 5 failures in a row.
    package init(time: Duration = .milliseconds(50), breaker: CircuitBreaker.Limits = .init(pause: .seconds(1))) {
        self.time = time
        self.breaker = breaker
    }
}

/// What metrics and logs learn of a store.
package enum RecordStoreEvent: Sendable, Equatable {
    /// The store does not answer from now on: the policies' outage rule is in force.
    case outageBegan(Engine)
    /// The store answers again.
    case outageEnded(Engine)
    /// A call failed, or a record is damaged.
    case failed(Engine, StoreError)
    /// A call took so long, whatever came of it.
    case took(Engine, StoreOperation, Duration)
    /// The same call, by the region whose store it was.
    case tookInRegion(String, Duration)
}

/// What a store was asked to do. The raw values are labels of metrics.
package enum StoreOperation: String, Sendable, Hashable, CaseIterable {
    case read, write
    /// A page or a count, for people who look.
    case list
}
