import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendorWire
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeySystem

/// The report about an engine, and for how long it holds.
@Suite(.timeLimit(.minutes(1))) struct EngineHealthStatusTests {
    private let clock = ManualTimekeeper()

    private func note(_ error: StoreError?, in health: EngineHealth, for operation: EngineOperation = .read) throws {
        let work = EngineWork(operation)
        health.note(error, for: work, try #require(health.permit(for: work)))
    }

    @Test func `an outage of writes lasts until a write succeeds, despite reads`() throws {
        let (health, told) = (EngineHealth("auditStore", timekeeper: clock), Locked<[String]>([]))
        health.whenChanged { operation, standing in told.withLock { $0.append("\(operation) \(standing.isAway)") } }
        try note(StoreError(.full, "test", reason: "It is full."), in: health, for: .write)
        for _ in 0..<3 { try note(nil, in: health) }
        #expect(health.isAway && health.isAway(for: .write) && !health.isAway(for: .read))
        #expect(health.trouble == "accepts no writes" && health.standing.lastError?.reason == "It is full.")
        try note(nil, in: health, for: .write)
        #expect(!health.isAway && health.trouble == nil)
        #expect(told.withLock { $0 } == ["write true", "write false"])
    }

    @Test func `the last error of an engine has its time, even after recovery`() throws {
        let health = EngineHealth("keyStore", timekeeper: clock)
        #expect(health.standing.failed == nil)
        for (operation, word) in [(EngineOperation.write, "first"), (.read, "second")] {
            clock.advance(by: .seconds(60))
            try note(StoreError(.unavailable, "test", reason: word), in: health, for: operation)
        }
        let date = clock.date
        clock.advance(by: .seconds(60))
        for operation in [EngineOperation.read, .write] { try note(nil, in: health, for: operation) }
        #expect(!health.isAway && health.standing.lastError?.reason == "second" && health.standing.failed == date)
    }

    @Test func `an engine answers for ten seconds after it answered, then is quiet`() throws {
        let health = EngineHealth("keyStore", timekeeper: clock)
        #expect(health.status == .quiet)
        try note(nil, in: health)
        #expect(health.status == .answers)
        clock.advance(by: .seconds(9))
        #expect(health.status == .answers)
        clock.advance(by: .seconds(1))
        #expect(health.status == .quiet)
        try note(StoreError(.unavailable, "test", reason: "It is away."), in: health)
        #expect(health.status == .away)
        try note(nil, in: health)
        #expect(health.status == .answers)
    }

    @Test func `a tenant's engine stays the same and goes with its tenant`() {
        let added = Locked(0)
        let table = EngineTable(timekeeper: clock) { _ in added.withLock { $0 += 1 } }
        table.add(EngineHealth("keyStore", timekeeper: clock))
        let first = table.health(.callout, of: "b", engine: "https")
        #expect(table.health(.callout, of: "b", engine: "https") === first)
        _ = table.health(.keySet, of: "a", engine: "file")
        #expect(table.all.map(\.name) == ["keyStore", "keySet", "callout"])
        #expect(added.withLock { $0 } == 3)
        table.keep { _, tenant in ["a", nil].contains(tenant) }
        #expect(table.all.map(\.name) == ["keyStore", "keySet"])
        #expect(table.known(.callout, of: "b") == nil)
    }

    @Test func `a callout's health follows its last answer`() async throws {
        let health = EngineHealth("callout", tenant: "a", limits: .callout, timekeeper: clock)
        let isDown = Locked(true)
        let callout = EntitlementCallout<Int>(
            EntitlementLimits(memory: .zero), outage: .allow, health: health, timekeeper: clock
        ) { _ in
            if isDown.withLock({ $0 }) { throw Diagnosis.callout(status: 500) }
            return .denied
        }
        _ = try await callout.verdict(on: EntitlementQuestion(user: "u", asset: "a"))
        #expect(health.standing.lastError?.reason.contains("It responds with 500.") == true && health.isAway)
        isDown.withLock { $0 = false }
        _ = try await callout.verdict(on: EntitlementQuestion(user: "u", asset: "a"))
        #expect(health.status == .answers)
    }

    @Test func `every vendor's API is an endpoint of requests`() {
        let endpoints: [RequestEndpoint] = VendorAPIKind.all.map { .vendor($0.name, .license) }
        #expect(endpoints.allSatisfy(\.isLicense) && Set(endpoints.map(\.name)).count == endpoints.count)
        #expect(!RequestEndpoint.vendor("vudrm", .certificate).isLicense)
        #expect(RequestOutcome.refused(LicenseRefusal(.overloaded, reason: "Full.")).word == "overloaded")
        #expect(RequestOutcome.license.refusal == nil)
    }

    @Test(arguments: [("node-a", "node-a"), ("a b/c", "a-b-c"), ("ip-10-0-0-1.internal", "ip-10-0-0-1.internal")])
    func `an identifier ends in its node's name`(name: String, shown: String) {
        var generator = SystemRandomNumberGenerator()
        let id = RequestID(using: &generator, node: RequestID.nodeName(name))
        #expect(id.node == shown)
        #expect(RequestID(id.text) == id)
        #expect(RequestID("request-1.node-a")?.node == nil)
    }
}
