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
        limits: RecordStoreLimits = RecordStoreLimits(), blocks: BlockList? = nil
    ) -> AccountSessions {
        AccountSessions(
            accounts: store ?? self.store, tokens: tokens, secrets: [secret], limits: limits, blocks: blocks,
            timekeeper: clock
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
