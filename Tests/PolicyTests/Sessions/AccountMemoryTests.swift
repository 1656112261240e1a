import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Limits while the store that counts is out of service: each node counts from its memory.
@Suite(.timeLimit(.minutes(5))) struct AccountMemoryTests {
    private let stage = OutageStage()
    private var scene: AccountScene { stage.scene }

    private func node() -> AccountSessions { stage.node() }
    private func outage(_ isDown: Bool) { stage.outage(isDown) }
    private func end(_ node: AccountSessions) async { await stage.end(node) }

    private func word(
        _ node: AccountSessions, _ session: String, _ policy: Policy, _ change: (inout Facts) -> Void = { _ in }
    ) async -> String {
        await node.decide(AccountScene.facts(session, change), by: policy).decision.word
    }

    @Test func `earlier streams count, even those kept by heartbeats, and a running stream continues`()
        async throws
    {
        let policy = try Scene.policy(AccountScene.lease + #","concurrency":{"limit":1,"heartbeat":"30s"}"#)
        let node = node()
        let booked = await node.decide(AccountScene.facts("s"), by: policy)
        for _ in 0..<20 {
            scene.clock.advance(by: .seconds(30))
            guard case .continues = await node.heartbeat(try #require(booked.heartbeatToken), of: "demo") else {
                throw InterruptedStore.down
            }
        }
        outage(true)
        #expect(await word(node, "t", policy) == "sessionLimit")
        #expect(await word(node, "s", policy) == "license")
        // Without a heartbeat token a stream lasts as long as its lease, and not as long as two heartbeats: also when the store is back, where
        // the stream has ended.
        scene.clock.advance(by: .seconds(110))
        #expect(await word(node, "t", policy) == "sessionLimit")
        await end(node)
        #expect(await word(node, "t", policy) == "sessionLimit")
        scene.clock.advance(by: .seconds(60))
        #expect(await word(node, "t", policy) == "license")
        // Two leases later nothing of the outage is left.
        scene.clock.advance(by: .seconds(600))
        #expect(await word(node, "u", policy) == "license")
        #expect(try await node.slots() == ["u"])
    }

    @Test func `200 concurrent devices get the limit at most from one node, and twice that from two`() async throws {
        let policy = try Scene.policy(AccountScene.lease + #","concurrency":{"limit":3}"#)
        let nodes = [node(), node()]
        outage(true)
        var licensed: [Int] = []
        for node in nodes {
            let words = await withTaskGroup { group in
                for number in 0..<200 { group.addTask { await word(node, "s-\(number)", policy) } }
                return await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(Set(words) == ["license", "sessionLimit"])
            licensed.append(words.count { $0 == "license" })
        }
        #expect(licensed == [3, 3])
        // Another account is another.
        #expect(await word(nodes[0], "s", policy) { $0.grant.account = "bert" } == "license")
    }

    @Test func `the next license reports them to the store, and adds none to them`() async throws {
        let policy = try Scene.policy(AccountScene.one)
        let node = node()
        outage(true)
        #expect(await word(node, "s", policy) == "license")
        outage(false)
        #expect(await word(node, "t", policy) == "sessionLimit")
        #expect(await node.decide(AccountScene.facts("s"), by: policy).slot?.session == "s")
        #expect(try await node.slots() == ["s"])
        // Then the store is right again, whatever the node remembers.
        #expect(try await node.release(session: "s", of: "anna", "demo"))
        #expect(await word(node, "t", policy) == "license")
    }

    @Test func `a session that was stopped elsewhere is not restored from a node's memory`() async throws {
        let policy = try Scene.policy(AccountScene.one)
        let (node, other) = (node(), scene.accountSessions())
        #expect(await word(node, "s", policy) == "license")
        outage(true)
        #expect(await word(node, "s", policy) == "license")
        #expect(try await other.stop(session: "s", of: "anna", "demo", by: "the test"))
        await end(node)
        #expect(await word(node, "s", policy) == "sessionStopped")
        #expect(await word(node, "t", policy) == "license")
    }

    @Test(
        arguments: [
            (#""devices":{"limit":1}"#, "deviceLimit"), (#""limits":{"licensesPerMinute":1}"#, "rateLimit"),
        ])
    func `devices and licenses a minute are counted too`(_ limit: String, _ refusal: String) async throws {
        let (node, policy) = (node(), try Scene.policy("\(AccountScene.lease),\(limit)"))
        outage(true)
        #expect(await word(node, "s", policy) == "license")
        #expect(await word(node, "t", policy) == refusal)
        outage(false)
        #expect(await word(node, "t", policy) == refusal)
    }

    @Test func `so are downloads`() async throws {
        let (node, policy) = (node(), try Scene.policy(#""download":{"allow":true,"storage":"1d","perTitle":1}"#))
        outage(true)
        #expect(await word(node, "s", policy) { $0.request.purpose = .download } == "license")
        #expect(await word(node, "s", policy) { $0.request.purpose = .download } == "license")
        #expect(await word(node, "t", policy) { $0.request.purpose = .download } == "downloadLimit")
    }

    /// A disk that stalls for 60 ms each second, under a viewer with 200 devices.
    @Test(arguments: [EngineReach.disk, .network])
    func `a slow store lifts no limit`(_ reach: EngineReach) async throws {
        let (stalls, clock) = (Locked(false), scene.clock)
        let store = InterruptedStore(
            store: scene.store,
            before: { _, _ throws(StoreError) in
                if stalls.withLock({ $0 }) { try? await clock.sleep(for: .milliseconds(60)) }
            }, reach: reach)
        let (node, policy) = (
            scene.accountSessions(store), try Scene.policy(AccountScene.lease + #","concurrency":{"limit":3}"#)
        )
        var words: [String] = []
        for second in 0..<20 {
            stalls.withLock { $0 = true }
            async let late = word(node, "s-\(second)-0", policy)
            // A call is given up after 50 ms, and retried once.
            for _ in 0..<2 {
                await clock.untilSomeoneSleeps(for: .milliseconds(50))
                clock.advance(by: .milliseconds(50))
            }
            #expect(await late == "overloaded")
            stalls.withLock { $0 = false }
            clock.advance(by: .milliseconds(900))
            for device in 1..<10 { words.append(await word(node, "s-\(second)-\(device)", policy)) }
        }
        #expect(words.count { $0 == "license" } == 3 && words.count { $0 == "sessionLimit" } == words.count - 3)
    }
}
