import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Twenty acquires each: a million in both modes with `LATCHKEY_ACQUIRES=500000`. The test run makes do with fewer.
private let rounds =
    ProcessInfo.processInfo.environment["LATCHKEY_ACQUIRES"].flatMap { Int($0) }.map { $0 / 20 } ?? 40

/// Two nodes over one store, which are killed again and again between reading and writing.
@Suite(.timeLimit(.minutes(max(10, rounds / 400)))) struct AccountRaceTests {
    /// A store that a node dies at: before it writes, or after it wrote and before it learns so.
    private static func deadly(_ store: MemoryRecordStore, _ seed: UInt64) -> InterruptedStore {
        let generator = Locked(SeededGenerator(seed: seed))
        let die = { @Sendable (call: InterruptedStore.Call, _: RecordKey?) async throws(StoreError) in
            await Task.yield()
            let dies = generator.withLock { Int.random(in: 0..<20, using: &$0) == 0 }
            if call == .write, dies { throw InterruptedStore.down }
        }
        return InterruptedStore(store: store, before: die, after: die)
    }

    @Test(arguments: ["refuseNewest", "stopOldest"])
    func `no account gets a slot too many, and no fence twice`(_ mode: String) async throws {
        let scene = AccountScene()
        let policy = try Scene.policy(
            AccountScene.lease + #","concurrency":{"limit":3,"mode":"\#(mode)"},"outage":{"sessionStore":"refuse"}"#)
        let limits = RecordStoreLimits(time: .seconds(3_600), breaker: .embedded)
        let books = [1, 2].map { scene.accountSessions(Self.deadly(scene.store, $0), limits: limits) }
        var (granted, fences) = (0, Set<Int>())
        for round in 0..<rounds {
            let account = "account-\(round)"
            let booked = await withTaskGroup(of: BookedDecision.self) { group in
                for number in 0..<20 {
                    let facts = AccountScene.facts("s\(number)") { $0.grant.account = account }
                    group.addTask { await books[number % 2].decide(facts, by: policy) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let licenses = booked.filter { $0.decision.terms != nil }
            granted += licenses.count
            let state = try await scene.accountSessions().account(account, of: "demo")
            let (running, stopped) = (Set(state.slots.map(\.session)), Set(state.stopped.map(\.session)))
            #expect(running.count <= 3)
            let holding = licenses.compactMap { $0.slot?.session }.filter { !stopped.contains($0) }
            #expect(holding.count == licenses.count || mode == "stopOldest")
            #expect(Set(holding).isSubset(of: running))
            let new = licenses.compactMap { $0.slot?.fence }
            #expect(Set(new).count == new.count)
            fences.formUnion(new)
        }
        #expect(granted >= rounds * 2)
        #expect(!fences.isEmpty)
    }
}
