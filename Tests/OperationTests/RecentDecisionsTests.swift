import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing

@Suite struct RecentDecisionsTests {
    private func record(_ requestID: String?, tenant: String = "a") -> DecisionRecord {
        var facts = Facts()
        facts.request.tenant = tenant
        return DecisionRecord.deciding(facts, by: Policy(), requestID: requestID).record
    }

    @Test func `a decision is found by its request, and only by its own tenant`() {
        let recent = RecentDecisions()
        recent.keep(record("request-1"))
        recent.keep(record(nil))
        #expect(recent.record(of: "request-1", at: "a")?.requestID == "request-1")
        #expect(recent.record(of: "request-1", at: "b") == nil)
        #expect(recent.record(of: "request-2", at: "a") == nil)
    }

    @Test func `another tenant's use of an identifier hides no decision`() {
        let recent = RecentDecisions(limit: 4)
        recent.keep(record("request-1"))
        for tenant in ["b", "c"] { recent.keep(record("request-1", tenant: tenant)) }
        let tenant = { (scope: TenantScope) in
            recent.record(of: "request-1", in: scope)?.facts.request.tenant
        }
        #expect(tenant(.all) == "c")
        #expect(tenant(.listed(["a"])) == "a" && tenant(.listed(["a", "b"])) == "b")
        #expect(tenant(.listed(["d"])) == nil)
        #expect(recent.record(of: "request-1", at: "a") != nil)
        // Until later ones replace them.
        for number in 2...3 { recent.keep(record("request-\(number)", tenant: "b")) }
        #expect(tenant(.listed(["a"])) == nil && tenant(.listed(["b"])) == "b")
    }

    @Test func `the latest are kept`() {
        let recent = RecentDecisions(limit: 3)
        for number in 1...5 { recent.keep(record("request-\(number)")) }
        #expect((1...5).map { recent.record(of: "request-\($0)", at: "a") != nil } == [false, false, true, true, true])
    }

    @Test func `the latest are listed by page, and a repeated request is found as its later one`() {
        let recent = RecentDecisions(limit: 3)
        for number in 1...4 { recent.keep(record("request-\(number)", tenant: number == 3 ? "b" : "a")) }
        recent.keep(record("request-4", tenant: "b"))
        #expect(recent.latest(limit: 9).map(\.number) == [5, 4, 3])
        #expect(recent.latest(limit: 9, before: 5) { $0.facts.request.tenant == "b" }.map(\.number) == [3])
        #expect(recent.latest(limit: 1, before: 4).map(\.number) == [3])
        #expect(recent.latest(limit: 1, before: 0).isEmpty)
        #expect(recent.record(of: "request-4", at: "b") != nil)
        #expect(recent.record(of: "request-2", at: "a") == nil)
    }

    @Test func `outcomes are counted per second, with the silent ones`() {
        let clock = ManualTimekeeper()
        clock.advance(by: .seconds(100))
        let counts = OutcomeCounts(seconds: 4, timekeeper: clock)
        counts.count(.granted)
        counts.count(.granted)
        counts.count(.shed)
        #expect(counts.latest().allSatisfy { $0.counts.isEmpty })
        clock.advance(by: .seconds(2))
        counts.count(.refused)
        #expect(counts.latest().map(\.number) == [99, 100, 101])
        #expect(counts.latest().map(\.counts) == [[:], [.granted: 2, .shed: 1], [:]])
        clock.advance(by: .seconds(3))
        #expect(counts.latest().map(\.counts) == [[.refused: 1], [:], [:]])
    }
}
