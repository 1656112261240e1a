import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Which callers wait for a hanging store of records.
@Suite(.timeLimit(.minutes(1))) struct GuardedRecordStoreTests {
    private let clock = ManualTimekeeper()
    private let calls = Locked(0)
    private let answers = Locked<Promise<Void, any Error>>(Promise())

    /// A store that does not answer until released, with a breaker of a tenth of a second and a second.
    private func hung() -> GuardedRecordStore { guarded(hungStore) }

    private var hungStore: InterruptedStore {
        InterruptedStore(
            store: MemoryRecordStore(timekeeper: clock),
            before: { [calls, answers] _, _ throws(StoreError) in
                calls.withLock { $0 += 1 }
                try? await answers.withLock { $0 }.value
            })
    }

    private static let limits = RecordStoreLimits(
        breaker: .init(patience: .milliseconds(100), pause: .seconds(1)))

    private func guarded(_ store: any RecordStore) -> GuardedRecordStore {
        GuardedRecordStore(store, for: .sessionStore, Self.limits, timekeeper: clock, report: { _ in })
    }

    private static let key = RecordKey(.account, tenant: "demo", name: "anna")

    /// Makes three requests find out that the store is down.
    private func takeAway(_ store: GuardedRecordStore) async {
        for _ in 0..<3 {
            async let reading = errorKind(store)
            await clock.untilSomeoneSleeps(for: .milliseconds(50))
            clock.advance(by: .milliseconds(50))
            #expect(await reading == .unavailable)
        }
    }

    private func errorKind(_ store: GuardedRecordStore) async -> StoreError.Kind? {
        do throws(StoreError) { _ = try await store.read(Self.key) } catch { return error.kind }
        return nil
    }

    @Test func `no request waits for a store known to be down, however long it hangs`() async {
        let store = hung()
        await takeAway(store)
        for second in 1...60 {
            clock.advance(by: .seconds(1))
            // The clock is stopped: a waiting caller would never return.
            for _ in 0..<5 { #expect(await errorKind(store) == .unavailable) }
            #expect(store.health.isAway)
            // One question a second, without a waiting caller.
            await clock.untilSomeoneSleeps(for: .milliseconds(50))
            while calls.withLock({ $0 }) < 3 + second { await Task.yield() }
            #expect(calls.withLock { $0 } == 3 + second)
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .milliseconds(50))
            while store.health.isAsking { await Task.yield() }
        }
    }

    @Test
    func `a store in this process's memory is called synchronously, and reported like others`()
        throws
    {
        let events = Locked<[RecordStoreEvent]>([])
        let store = GuardedRecordStore(
            MemoryRecordStore(limit: 1, timekeeper: clock), for: .sessionStore, timekeeper: clock,
            report: { event in events.withLock { $0.append(event) } })
        let records = try #require(store.immediate)
        let (end, first) = (clock.date + 60, Record(version: 1, bytes: [1]))
        #expect(try records.write(first, at: Self.key, replacing: nil, until: end))
        // Another writer was first.
        #expect(try !records.write(Record(version: 2, bytes: [2]), at: Self.key, replacing: nil, until: end))
        #expect(try records.read(Self.key).record == first)
        let other = RecordKey(.account, tenant: "demo", name: "berta")
        #expect { _ = try records.write(first, at: other, replacing: nil, until: end) } throws: {
            ($0 as? StoreError)?.kind == .full
        }
        let failures = events.withLock { $0 }.filter { if case .failed = $0 { true } else { false } }
        #expect(failures.count == 1 && events.withLock { $0.count } == 5)
        #expect(store.health.isAway(for: .write) && !store.health.isAway(for: .read))
        #expect(hung().immediate == nil)
    }

    @Test func `one region is probed for recovery, and the store reports for all`() async throws {
        let (here, there) = (MemoryRecordStore(timekeeper: clock), MemoryRecordStore(timekeeper: clock))
        let home = try #require(RegionalRecordStore(["eu": here, "us": there])).home(of: Self.key)
        let stores = ["eu", "us"].map { name -> (String, any RecordStore) in (name, name == home ? hungStore : here) }
        let records = GuardedRecords(
            try #require(RegionalRecordStore(Dictionary(uniqueKeysWithValues: stores))), for: .sessionStore,
            Self.limits, timekeeper: clock)
        let store = records[Self.key]
        #expect(store.health.region == home)
        await takeAway(store)
        #expect(store.health.isAway && !store.health.isAsking)
        clock.advance(by: .seconds(1))
        #expect(await errorKind(store) == .unavailable)
        await clock.untilSomeoneSleeps(for: .milliseconds(50))
        #expect(records.parts.map(\.health.isAsking) == ["eu", "us"].map { $0 == home })
        clock.advance(by: .milliseconds(50))
        while records.parts.contains(where: \.health.isAsking) { await Task.yield() }
        #expect(records.parts.map(\.health.isAway) == ["eu", "us"].map { $0 == home })
    }

    @Test func `a recovered store is used by the first request after its answer`() async {
        let store = hung()
        await takeAway(store)
        clock.advance(by: .seconds(1))
        #expect(await errorKind(store) == .unavailable)
        await clock.untilSomeoneSleeps(for: .milliseconds(50))
        #expect(store.health.isAway)
        answers.withLock { $0 }.resolve(.success(()))
        while store.health.isAway { await Task.yield() }
        #expect(await errorKind(store) == nil)
        #expect(!store.health.isAway)
    }

    @Test func `the server's probe restores a store without a request, and no second call joins it`() async {
        let store = hung()
        await takeAway(store)
        await store.guarded.probe()
        #expect(calls.withLock { $0 } == 3, "It was asked less than a second ago.")
        clock.advance(by: .seconds(1))
        async let probe: Void = store.guarded.probe()
        await clock.untilSomeoneSleeps(for: .milliseconds(50))
        await store.guarded.probe()
        #expect(await errorKind(store) == .unavailable)
        while calls.withLock({ $0 }) < 4 { await Task.yield() }
        #expect(calls.withLock { $0 } == 4)
        answers.withLock { $0 }.resolve(.success(()))
        await probe
        #expect(!store.health.isAway)
        #expect(await errorKind(store) == nil)
    }

    @Test func `a part that is down leaves others alone, and the store is back when all are`() async {
        let (down, events) = (Locked(Set<Int>()), Locked<[Bool]>([]))
        let store = PartedStore(
            store: InterruptedStore(
                store: MemoryRecordStore(timekeeper: clock),
                before: { _, key throws(StoreError) in
                    guard let key, down.withLock({ $0.contains(PartedStore.part(of: key)) }) else { return }
                    throw InterruptedStore.down
                }))
        let guarded = guarded(store)
        guarded.health.whenChanged { _, standing in events.withLock { $0.append(standing.isAway) } }
        func isThere(_ name: String) async -> Bool {
            (try? await guarded.read(RecordKey(.account, tenant: "demo", name: name))) != nil
        }
        down.withLock { $0 = [1, 2] }
        for _ in 0..<3 {
            #expect(await !isThere("a"))
            #expect(await isThere("c"))
            clock.advance(by: .milliseconds(50))
        }
        // The breaker of the part is open: it is not asked.
        down.withLock { $0 = [2] }
        #expect(await !isThere("a"))
        #expect(await !isThere("b"))
        #expect(await isThere("c"))
        #expect(guarded.health.isAway)
        clock.advance(by: .seconds(1))
        await guarded.guarded.probe()
        #expect(await isThere("a"))
        #expect(guarded.health.isAway)
        down.withLock { $0 = [] }
        clock.advance(by: .seconds(1))
        await guarded.guarded.probe()
        #expect(!guarded.health.isAway)
        #expect(events.withLock { $0 } == [true, false])
    }
}

/// A store in which each record is a separate part.
private struct PartedStore: SingleTripStore {
    let store: InterruptedStore
    var engine: String { store.engine }

    func part(of key: RecordKey) -> Int { Self.part(of: key) }

    static func part(of key: RecordKey) -> Int { Int(key.name.utf8.last ?? 0) % 8 }

    func guess(_ key: RecordKey) -> RecordReading? { nil }

    func extend(_ slot: SlotExtension, at key: RecordKey) async throws(StoreError) -> SlotExtension.Answer {
        .held(try await store.read(key))
    }

    func exchange(
        _ record: Record, at key: RecordKey, knowing reading: RecordReading, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> RecordReading? {
        let isWritten = try await store.write(
            record, at: key, replacing: reading.record?.version, until: end, counting: ends)
        return isWritten ? nil : try await store.read(key)
    }

    func read(_ key: RecordKey) async throws(StoreError) -> RecordReading { try await store.read(key) }

    func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try await store.write(record, at: key, replacing: replaced, until: end, counting: ends)
    }

    func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        try await store.remove(key, version: version)
    }

    func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        try await store.page(of: kind, tenant, prefix: prefix, after: name, limit: limit)
    }

    func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        try await store.count(of: kind, tenant, most: most, ends)
    }
}
