import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Account books for tests: nodes over one store, whose clock a test moves.
struct AccountScene {
    let clock = ManualTimekeeper(date: Scene.now)
    let store: MemoryRecordStore
    let secret = Secret([UInt8](repeating: 7, count: 32))
    let events = Locked<[RecordStoreEvent]>([])

    init(limit: Int = 1_000_000) { store = MemoryRecordStore(limit: limit, timekeeper: clock) }

    func accountSessions(
        _ store: (any RecordStore)? = nil, tokens: (any RecordStore)? = nil,
        limits: RecordStoreLimits = RecordStoreLimits(), blocks: BlockList? = nil, remembering: Int = 100_000
    ) -> AccountSessions {
        AccountSessions(
            accounts: store ?? self.store, tokens: tokens, secrets: [secret], limits: limits, blocks: blocks,
            remembering: remembering, timekeeper: clock
        ) { [events] event in
            if case .took = event { return }
            events.withLock { $0.append(event) }
        }
    }

    static func facts(_ session: String, _ change: (inout Facts) -> Void = { _ in }) -> Facts {
        Scene.facts { facts in
            facts.grant.session = session
            facts.grant.tokenID = "token-of-\(session)"
            facts.grant.device = "device-of-\(session)"
            facts.grant.label = "TV of \(session)"
            facts.grant.expires = Scene.now + 1_000_000_000
            change(&facts)
        }
    }

    static let lease = #""validity":{"type":"lease","lease":"5m"}"#
    static let one = lease + #","concurrency":{"limit":1}"#
}

/// Nodes over one store, which a test takes away and gives back.
struct OutageStage {
    let scene = AccountScene()
    private let isDown = Locked(false)

    /// - Parameters:
    ///   - remembering: how many accounts and tokens the node remembers.
    ///   - ends: whether the outage begins with the first write, after it.
    func node(remembering: Int = 100_000, goingDownAtWrite ends: Bool = false) -> AccountSessions {
        let store = InterruptedStore(
            store: scene.store,
            before: { [isDown] _, _ throws(StoreError) in
                if isDown.withLock({ $0 }) { throw InterruptedStore.down }
            },
            after: { [isDown] call, _ throws(StoreError) in
                if ends, call == .write { isDown.withLock { $0 = true } }
            })
        return scene.accountSessions(store, remembering: remembering)
    }

    func outage(_ isDown: Bool) { self.isDown.withLock { $0 = isDown } }

    /// The store is back, and the node knows it.
    func end(_ node: AccountSessions) async {
        outage(false)
        scene.clock.advance(by: .seconds(2))
        for one in node.watched { while one.health.isAway { await one.probe() } }
    }
}

extension AccountSessions {
    func slots(_ account: String = "anna") async throws -> Set<String> {
        Set(try await self.account(account, of: "demo").slots.map(\.session))
    }
}

/// A store with a word in each call.
struct InterruptedStore: RecordStore {
    enum Call: Hashable {
        case read, write, remove, page
    }

    let engine = "interrupted"
    let store: any RecordStore
    /// Runs before each call, and may throw.
    var before: @Sendable (Call, RecordKey?) async throws(StoreError) -> Void = { _, _ throws(StoreError) in }
    /// Runs after each call, and may throw.
    var after: @Sendable (Call, RecordKey?) async throws(StoreError) -> Void = { _, _ throws(StoreError) in }
    var reach = EngineReach.network

    static let down = StoreError(.unavailable, "interrupted", reason: "Down.")

    func read(_ key: RecordKey) async throws(StoreError) -> RecordReading {
        try await before(.read, key)
        let reading = try await store.read(key)
        try await after(.read, key)
        return reading
    }

    func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool {
        try await before(.write, key)
        let isWritten = try await store.write(record, at: key, replacing: replaced, until: end, counting: ends)
        try await after(.write, key)
        return isWritten
    }

    func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool {
        try await before(.remove, key)
        return try await store.remove(key, version: version)
    }

    func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord] {
        try await before(.page, nil)
        return try await store.page(of: kind, tenant, prefix: prefix, after: name, limit: limit)
    }

    func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        try await before(.page, nil)
        return try await store.count(of: kind, tenant, most: most, ends)
    }
}
