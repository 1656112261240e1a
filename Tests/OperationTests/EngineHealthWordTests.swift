import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyOperation
@testable import LatchkeySystem

/// What is said of an engine, and for how long.
@Suite(.timeLimit(.minutes(1))) struct EngineHealthWordTests {
    private let clock = ManualTimekeeper()

    @Test func `an engine answers for ten seconds after it answered, and is quiet then`() {
        let health = EngineHealth("keyStore", timekeeper: clock)
        #expect(health.word == .quiet)
        health.note()
        #expect(health.word == .answers)
        clock.advance(by: .seconds(9))
        #expect(health.word == .answers)
        clock.advance(by: .seconds(1))
        #expect(health.word == .quiet)
        health.note(StoreError(.unavailable, "test", reason: "It is away."))
        #expect(health.word == .away)
        health.note()
        #expect(health.word == .answers)
    }

    @Test func `a tenant's engine stays the same, and goes with its tenant`() {
        let added = Locked(0)
        let table = EngineTable(timekeeper: clock) { _ in added.withLock { $0 += 1 } }
        table.add(EngineHealth("keyStore", timekeeper: clock))
        let first = table.health(.callout, of: "b", engine: "https")
        #expect(table.health(.callout, of: "b", engine: "https") === first)
        _ = table.health(.keySet, of: "a", engine: "file")
        #expect(table.all.map(\.name) == ["keyStore", "keySet", "callout"])
        #expect(added.withLock { $0 } == 3)
        table.keep { _, tenant in tenant == "a" }
        #expect(table.all.map(\.name) == ["keyStore", "keySet"])
        #expect(table.known(.callout, of: "b") == nil)
    }

    @Test func `a callout's health is that of its last answer`() async throws {
        let (health, isDown) = (EngineHealth("callout", tenant: "a", timekeeper: clock), Locked(true))
        let callout = EntitlementCallout<Int>(
            EntitlementLimits(memory: .zero), outage: .allow, health: health, timekeeper: clock
        ) { _ in
            if isDown.withLock({ $0 }) { throw Diagnosis.callout(status: 500) }
            return .denied
        }
        _ = try await callout.verdict(on: EntitlementQuestion(user: "u", asset: "a"))
        #expect(health.standing.lastError?.reason.contains("It answers with 500.") == true && health.isAway)
        isDown.withLock { $0 = false }
        _ = try await callout.verdict(on: EntitlementQuestion(user: "u", asset: "a"))
        #expect(health.word == .answers)
    }

    @Test func `every vendor's API is an endpoint of requests`() {
        #expect(
            Set(RequestEndpoint.allCases.filter(\.isLicense)) == [
                .fairPlay, .clearKey, .slot, .vuDRM, .axinom, .doveRunner, .drmToday,
            ])
        #expect(RequestOutcome.refused(LicenseRefusal(.overloaded, reason: "Full.")).word == "overloaded")
        #expect(RequestOutcome.license.refusal == nil)
    }

    @Test(arguments: [("node-a", "node-a"), ("a b/c", "a-b-c"), ("ip-10-0-0-1.internal", "ip-10-0-0-1.internal")])
    func `a made identifier ends in its node's name`(name: String, shown: String) {
        var generator = SystemRandomNumberGenerator()
        let id = RequestID(using: &generator, node: RequestID.nodeName(name))
        #expect(id.node == shown)
        #expect(RequestID(id.text) == id)
        #expect(RequestID("request-1.node-a")?.node == nil)
    }
}
