import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Operators' blocks on a node: in memory for its decisions, and in its copy for outages of the store.
@Suite(.timeLimit(.minutes(1))) struct BlockTests {
    private let store = CountingKeyStore()
    private let copy = MemoryNodeCopy()

    private static func block(_ kind: Block.Kind = .account, _ name: String = "ann", until end: Date? = nil) -> Block {
        Block(
            Block.Subject(kind, name, of: "acme"), reason: "stolen", by: "ops", since: Date(timeIntervalSince1970: 1),
            until: end)
    }

    /// A node as it starts.
    private func node(copy: MemoryNodeCopy? = nil, age: StoreAge? = nil) async throws -> GuardedKeyStore {
        let pending: PendingChanges? = if let copy { try await PendingChanges.open(copy) } else { nil }
        let node = GuardedKeyStore(
            store, health: EngineHealth("keyStore", timekeeper: ManualTimekeeper()), copy: copy, pending: pending,
            age: age)
        await node.probe()
        try await node.startBlocks()
        return node
    }

    private static func names(_ node: GuardedKeyStore) -> [String] {
        node.blockList.snapshot.blocks.map(\.subject.name).sorted()
    }

    @Test func `blocks are found by account and by each name of the device, until their end`() async throws {
        let node = try await node()
        let long = String(repeating: "x", count: 600)
        for block in [Self.block(.account, long), Self.block(.device, "tv"), Self.block(until: Date())] {
            try await node.block(block)
        }
        func found(_ change: (inout Facts) -> Void) -> [Block.Kind] {
            var facts = Facts()
            facts.request.tenant = "acme"
            change(&facts)
            return node.blockList.blocks(of: facts).map(\.subject.kind)
        }
        #expect(found { $0.grant.account = long } == [.account])
        #expect(found { ($0.grant.account, $0.grant.device) = ("ann", "tv") } == [.account, .device])
        #expect(found { ($0.grant.device, $0.request.device) = ("tv", "tv") } == [.device])
        #expect(found { ($0.grant.device, $0.request.device) = ("other", "tv") } == [.device])
        #expect(found { ($0.grant.account, $0.request.tenant) = ("ann", "other") } == [])
        #expect(found { $0.grant.account = "tv" } == [])
        #expect(node.blockList.block(.account, "ann", of: "acme", at: Date.distantPast) != nil)
        #expect(node.blockList.block(.account, "ann", of: "acme", at: Date.distantFuture) == nil)
        #expect(node.blockList.hasDevices(of: "acme") && !node.blockList.hasDevices(of: "other"))
    }

    @Test func `a block set while the store is down holds here, also after a restart, and reaches the store later`()
        async throws
    {
        let node = try await node(copy: copy)
        #expect(try await node.blockEvenInOutage(Self.block(.account, "before")))
        store.setDown(true)
        await node.probe()
        #expect(try await node.blockEvenInOutage(Self.block()) == false)
        await #expect(throws: StoreError.self) { try await node.unblock(Self.block().subject) }
        #expect(Self.names(node) == ["ann", "before"])
        let restarted = try await self.node(copy: copy)
        #expect(Self.names(restarted) == ["ann", "before"])

        store.setDown(false)
        await restarted.probe()
        try await restarted.blocks()
        #expect(Self.names(restarted) == ["ann", "before"])
        // A lift that comes before the block would be undone by it.
        await #expect(throws: StoreError.self) { try await restarted.unblock(Self.block().subject) }
        let isDelivered = await restarted.pending?.deliver { change in
            guard case .blocked(let block) = change else { return }
            try await restarted.block(block)
        }
        #expect(isDelivered == true)
        #expect(try await store.inner.blocks().count == 2)
        #expect(try await restarted.unblock(Self.block().subject))
        #expect(try await restarted.unblock(Self.block().subject) == false)
        #expect(Self.names(restarted) == ["before"])
        #expect(try await copy.blocks().map(\.subject.name) == ["before"])
    }

    @Test func `without a copy nothing is blocked while the store is down, and the caller gets an error`() async throws
    {
        let node = try await node()
        store.setDown(true)
        await #expect(throws: StoreError.self) { try await node.blockEvenInOutage(Self.block()) }
        #expect(Self.names(node) == [])
    }

    @Test func `a node that reads an older database lifts no block until an operator accepts it`() async throws {
        let restored = RestoredAudit()
        let chain = AuditChain(restored, timekeeper: ManualTimekeeper())
        let age = try await StoreAge.open(restored, copy: copy)
        let node = try await node(copy: copy, age: age)
        try await chain.append(AuditEvent(.blockSet, of: "acme/ann", by: "admin:ops"))
        try await node.block(Self.block())
        try await age.look()
        restored.drop(1)
        _ = try await store.inner.unblock(Self.block().subject)
        for one in [node, try await self.node(copy: copy, age: try await StoreAge.open(restored, copy: copy))] {
            try await one.blocks()
            #expect(Self.names(one) == ["ann"])
            #expect(one.age?.setback != nil)
            await #expect(throws: StoreError.self) { try await one.unblock(Self.block().subject) }
        }
        try await age.accept()
        try await node.blocks()
        #expect(Self.names(node) == [])
    }

    @Test func `an answer of the store from before a change does not undo it`() async throws {
        let list = BlockList(nil)
        let stamp = list.snapshot.stamp
        list.add(Self.block())
        #expect(!list.replace([], readAt: stamp))
        #expect(list.snapshot.blocks.count == 1)
        #expect(list.replace([], readAt: list.snapshot.stamp))
        #expect(list.snapshot.blocks.isEmpty)
    }
}
