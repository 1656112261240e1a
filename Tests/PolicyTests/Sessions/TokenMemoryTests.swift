import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem
@testable import LatchkeyVault

/// Single-use tokens while the store of used tokens is out of service: each node refuses tokens that it accepted itself.
@Suite(.timeLimit(.minutes(5))) struct TokenMemoryTests {
    private let stage = OutageStage()

    /// The refusal's code and reason; `license` without one.
    private func answer(
        _ node: AccountSessions, _ session: String, _ token: String = "t", life: TimeInterval = 3_600,
        rule: String = ""
    ) async throws -> String {
        let expires = stage.scene.clock.date + life
        let facts = AccountScene.facts(session) { ($0.grant.tokenID, $0.grant.expires) = (token, expires) }
        let policy = try Scene.policy(#""token":{"singleUse":true}"# + rule)
        let decision = await node.decide(facts, by: policy).decision
        guard case .refuse(let refusal, _, _) = decision else { return decision.word }
        return "\(refusal.code): \(refusal.reason)"
    }

    private static let usedElsewhere = "tokenUsed: The token was used in another session."

    @Test(arguments: [false, true])
    func `a token that a node accepted before or during an outage is used there`(_ isDuring: Bool) async throws {
        let node = stage.node()
        stage.outage(isDuring)
        #expect(try await answer(node, "a") == "license")
        if !isDuring { #expect(try await answer(node, "b") == Self.usedElsewhere) }
        stage.outage(true)
        #expect(try await answer(node, "b") == Self.usedElsewhere)
        #expect(try await answer(node, "b", "another") == "license")
        // The session may use it for all its keys, as with the store.
        stage.scene.clock.advance(by: .seconds(60))
        #expect(try await answer(node, "a") == "license")
        stage.scene.clock.advance(by: .seconds(1))
        #expect(try await answer(node, "a") == "tokenUsed: The token was used more than 1m ago.")
        // Each node knows its own: together they accept it once each.
        let other = stage.node()
        #expect(try await answer(other, "b") == "license")
        #expect(try await answer(other, "c") == Self.usedElsewhere)
    }

    @Test func `a request that is refused because of the outage does not use its token`() async throws {
        let store = InterruptedStore(
            store: stage.scene.store,
            before: { call, _ throws(StoreError) in if call == .write { throw InterruptedStore.down } })
        let node = stage.scene.accountSessions(store)
        let refuse = #","outage":{"tokenStore":"refuse"}"#
        #expect(
            try await answer(node, "a", rule: refuse) == "storeUnavailable: The engine tokenStore is out of service.")
        #expect(try await answer(node, "b") == "license")
    }

    @Test func `after an outage the node still refuses the token, and its next license reports it to the store`()
        async throws
    {
        let node = stage.node()
        stage.outage(true)
        #expect(try await answer(node, "a") == "license")
        let began = stage.scene.clock.date
        await stage.end(node)
        #expect(try await answer(node, "b") == Self.usedElsewhere)
        #expect(try await answer(node, "a") == "license")
        #expect(try await answer(stage.node(), "b") == Self.usedElsewhere)
        let records = try await stage.scene.store.page(of: .token, "demo", prefix: "", after: nil, limit: 10)
        let use = AccountState.TokenUse(session: "a", first: began)
        #expect(records.filter { $0.name == "t".digestName }.map(\.record.bytes) == [use.recordBytes])
    }

    @Test(arguments: [false, true])
    func `of parallel sessions one gets the token, also as the outage begins`(_ beginsMeanwhile: Bool) async throws {
        let node = stage.node(goingDownAtWrite: beginsMeanwhile)
        stage.outage(!beginsMeanwhile)
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<100 { group.addTask { try await answer(node, "s-\(number)") } }
            return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(answers == ["license": 1, Self.usedElsewhere: 99])
    }

    @Test func `a token is forgotten half a minute after its end, as in the store`() async throws {
        let node = stage.node()
        for isDown in [false, true] {
            stage.outage(isDown)
            #expect(try await answer(node, "a", "\(isDown)", life: 10) == "license")
            stage.scene.clock.advance(by: .seconds(39))
            #expect(try await answer(node, "b", "\(isDown)") == Self.usedElsewhere)
            stage.scene.clock.advance(by: .seconds(1))
            #expect(try await answer(node, "b", "\(isDown)") == "license")
        }
    }

    /// The policy allows a token that a full memory has forgotten.
    @Test func `a full memory forgets the oldest tokens`() async throws {
        let node = stage.node(remembering: 4)
        stage.outage(true)
        #expect(try await answer(node, "a", "first") == "license")
        for number in 0..<20 {
            #expect(try await answer(node, "a", "\(number)") == "license")
            #expect(try await answer(node, "b", "\(number)") == Self.usedElsewhere)
        }
        #expect(try await answer(node, "b", "first") == "license")
    }
}
