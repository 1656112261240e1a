import LatchkeyCore
import Testing

@testable import LatchkeyHTTP

/// The goals of `Documentation/LicenseServer.md` §12 for overload, on a simulated server.
@Suite(.timeLimit(.minutes(5))) struct AdmissionLoadTests {
    private static let bound = 2 / 0.0007

    private func mixed(_ factor: Double, for duration: Double) -> SimulatedServer.Load {
        let rate = Self.bound * factor
        return SimulatedServer.Load(
            duration: duration, rates: [.renewal: rate * 0.4, .start: rate * 0.4, .stored: rate * 0.2])
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `three times the limit: goodput stays, accepted ones are on time, and refusals are immediate`(seed: UInt64) {
        let outcomes = SimulatedServer().run([mixed(3, for: 2)], seed: seed)
        let latencies = outcomes.compactMap(\.latency)
        #expect(Double(latencies.count) >= 0.9 * Self.bound * 2)
        #expect(latencies.quantile(0.99) < 0.1)
        #expect(outcomes.compactMap(\.refusal).quantile(0.5) < 0.000_001)
        #expect(outcomes.compactMap(\.refusal).max() ?? 1 <= 0.2)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `within a second after the load ends all are served on time again`(seed: UInt64) {
        let outcomes = SimulatedServer().run([mixed(3, for: 1), mixed(0.7, for: 2)], seed: seed)
        let after = outcomes.filter { $0.arrival >= 2 }
        #expect(after.allSatisfy { $0.refusal == nil })
        #expect(after.compactMap(\.latency).quantile(0.99) < 0.025)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `under load each lane gets its weight`(seed: UInt64) {
        let rate = Self.bound * 2
        let load = SimulatedServer.Load(duration: 2, rates: [.renewal: rate, .start: rate, .stored: rate])
        let outcomes = SimulatedServer().run([load], seed: seed)
        let served = outcomes.filter { $0.latency != nil }
        for lane in AdmissionLane.allCases {
            let own = served.filter { $0.lane == lane }
            let part = Double(own.count) / Double(served.count)
            #expect(abs(part - Double(lane.weight) / 7) < 0.02, "\(lane): \(part)")
            #expect(own.compactMap(\.latency).quantile(0.99) < 0.1)
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `renewals alone cause no refusals, and a storm of downloads takes nothing from renewals`(seed: UInt64) {
        let rates: [AdmissionLane: Double] = [.renewal: Self.bound * 0.5, .stored: Self.bound * 3]
        let outcomes = SimulatedServer().run([.init(duration: 2, rates: rates)], seed: seed)
        let renewals = outcomes.filter { $0.lane == .renewal }
        #expect(renewals.filter { $0.refusal != nil }.count <= renewals.count / 1_000)
        #expect(renewals.compactMap(\.latency).quantile(0.99) < 0.05)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `below the limit no lane has refusals or starvation`(seed: UInt64) {
        let outcomes = SimulatedServer().run([mixed(0.8, for: 3)], seed: seed)
        #expect(outcomes.allSatisfy { $0.refusal == nil })
        for lane in AdmissionLane.allCases {
            let latencies = outcomes.filter { $0.lane == lane }.compactMap(\.latency)
            #expect(latencies.quantile(0.99) < 0.025, "\(lane)")
            #expect(latencies.max() ?? 1 < 0.1, "\(lane)")
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `a machine that becomes ten times slower accepts less and is on time again`(seed: UInt64) {
        let server = SimulatedServer { $0 < 1 ? 0.0007 : 0.007 }
        let outcomes = server.run([mixed(0.8, for: 4)], seed: seed)
        let after = outcomes.filter { $0.arrival >= 2 }
        #expect(after.compactMap(\.latency).quantile(0.99) < 0.1)
        #expect(Double(after.compactMap(\.latency).count) >= 0.9 * 2 / 0.007 * 2)
        #expect(outcomes.compactMap(\.latency).max() ?? 1 < 0.5)
    }
}
