import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyHTTP
@testable import LatchkeyLicensing

/// No tenant takes another's share: on a simulated server, and at the admission of requests.
///
/// Source: `Documentation/Server/Tenants.md`.
@Suite(.timeLimit(.minutes(5))) struct AdmissionTenantTests {
    private static let bound = 2 / 0.0007

    /// One tenant asks for three times the threads' capacity, another one for 30 %.
    private static func flood(_ lanes: [AdmissionLane: Double], _ neighbor: [AdmissionLane: Double])
        -> SimulatedServer.Load
    {
        SimulatedServer.Load(
            duration: 3, rates: lanes.mapValues { $0 * bound }, neighbor: neighbor.mapValues { $0 * bound })
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `while one tenant floods a lane, no tenant within its share is refused or late`(seed: UInt64) {
        let outcomes = SimulatedServer().run([Self.flood([.start: 3], [.start: 0.3])], seed: seed)
        let neighbor = outcomes.filter { $0.tenant == "neighbor" }
        #expect(neighbor.count > 2_000)
        #expect(neighbor.count { $0.refusal != nil } == 0)
        #expect(neighbor.compactMap(\.latency).quantile(0.99) < 0.025)
        // The other tenant gets the neighbor's unused share.
        #expect(Double(outcomes.count { $0.latency != nil }) >= 0.9 * Self.bound * 3)
    }

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `while one tenant floods all lanes, no tenant within its share is refused`(seed: UInt64) {
        // Half of the lanes' shares are 0.28 and 0.14. Closer to those, a burst exceeds the share for a moment.
        let load = Self.flood([.renewal: 1, .start: 1, .stored: 1], [.renewal: 0.18, .start: 0.05])
        let neighbor = SimulatedServer().run([load], seed: seed).filter { $0.tenant == "neighbor" }
        #expect(neighbor.count > 1_700)
        #expect(neighbor.count { $0.refusal != nil } == 0)
        #expect(neighbor.compactMap(\.latency).quantile(0.99) < 0.05)
    }

    @Test func `a queue that does not know the tenants refuses the neighbor's`() {
        var server = SimulatedServer()
        server.knowsTenants = false
        let outcomes = server.run([Self.flood([.start: 3], [.start: 0.3])], seed: 1)
        let neighbor = outcomes.filter { $0.tenant == "neighbor" }
        #expect(Double(neighbor.count { $0.refusal != nil }) > 0.3 * Double(neighbor.count))
    }

    @Test func `two tenants that both exceed capacity get half each`() {
        let outcomes = SimulatedServer().run([Self.flood([.start: 2], [.start: 1])], seed: 1)
        let served = outcomes.filter { $0.latency != nil }
        let part = Double(served.count { $0.tenant == "neighbor" }) / Double(served.count)
        #expect(abs(part - 0.5) < 0.03, "\(part)")
    }

    @Test func `tenants take turns, small ones gain no extra share, and none is forgotten`() {
        var turns = OwnerTurns<String, String>()
        for number in 0..<4 { turns.append("a\(number)", of: "a") }
        turns.append("b0", of: "b")
        var order: [String] = []
        while let next = turns.take(newest: false) {
            order.append(next)
            if next.hasPrefix("b"), order.count < 7 { turns.append("b\(order.count)", of: "b") }
        }
        #expect(order == ["a0", "b0", "a1", "b2", "a2", "b4", "a3", "b6"])
        #expect(turns.isEmpty)
    }

    @Test func `a lone tenant has all places, and a second one immediately gets its share`() {
        let limit = ConcurrencyLimit(least: 4)
        for _ in 0..<16 { #expect(limit.begin(.renewal, tenant: "a")) }
        #expect(!limit.begin(.renewal, tenant: "a"))
        for _ in 0..<8 { #expect(limit.begin(.renewal, tenant: "b")) }
        #expect(!limit.begin(.renewal, tenant: "b"))
        // A third one has a third; a tenant with more than that waits until its requests have ended.
        for _ in 0..<5 { #expect(limit.begin(.renewal, tenant: "c")) }
        for _ in 0..<12 {
            #expect(!limit.begin(.renewal, tenant: "a"))
            limit.end(after: .milliseconds(1), tenant: "a", at: .zero)
        }
        #expect(limit.begin(.renewal, tenant: "a"))
        #expect(limit.running == 18)
    }

    @Test func `work without a tenant has one share, and takes no tenant's`() {
        let limit = ConcurrencyLimit(least: 4)
        for _ in 0..<16 { #expect(limit.begin(.renewal)) }
        #expect(!limit.begin(.renewal))
        for _ in 0..<8 { #expect(limit.begin(.renewal, tenant: "a")) }
        #expect(!limit.begin(.renewal, tenant: "a"))
        for _ in 0..<16 { limit.end(after: .milliseconds(1), at: .zero) }
        // Alone, the tenant has all places; with others, they have their share.
        for _ in 0..<8 { #expect(limit.begin(.renewal, tenant: "a")) }
        #expect(!limit.begin(.renewal, tenant: "a"))
        for _ in 0..<8 { #expect(limit.begin(.renewal)) }
        #expect(!limit.begin(.renewal))
    }

    @Test func `a tenant's packagers do not take the places of another's`() {
        let pool = PackagerPool(most: 8)
        for _ in 0..<8 { #expect(pool.begin(of: "a")) }
        #expect(!pool.begin(of: "a"))
        for _ in 0..<4 { #expect(pool.begin(of: "b")) }
        #expect(!pool.begin(of: "b"))
        for _ in 0..<4 { pool.end(of: "b") }
        #expect(!pool.begin(of: "a"))
        pool.end(of: "a")
        #expect(pool.begin(of: "a"))
    }

    @Test func `seconds and metrics are separate per tenant`() {
        let clock = ManualTimekeeper()
        let counts = OutcomeCounts(seconds: 4, timekeeper: clock)
        counts.count(.granted, of: "a")
        counts.count(.refused, of: "b")
        counts.count(.failed)
        clock.advance(by: .seconds(1))
        let last = { (scope: TenantScope) in counts.latest(in: scope).last?.counts }
        #expect(last(.all) == [.granted: 1, .refused: 1, .failed: 1])
        #expect(last(.listed(["a"])) == [.granted: 1] && last(.listed(["a", "b"])) == [.granted: 1, .refused: 1])
        #expect(last(.listed(["c"])) == [:])

        let metrics = ServerMetrics(version: "1", tenants: 2)
        for tenant in ["a", "b", "c"] { metrics.sessions[tenant].set(7) }
        let own = metrics.text(.prometheus, .listed(["a"]))
        #expect(own.split(separator: "\n").filter { !$0.hasPrefix("#") } == [#"latchkey_sessions{tenant="a"} 7"#])
        // The metrics of the tenants beyond the bound belong to no single tenant.
        #expect(metrics.text(.prometheus).contains(#"{tenant="other"}"#))
        #expect(!metrics.text(.prometheus, .listed(["c", "other"])).contains("latchkey_sessions{"))
    }
}
