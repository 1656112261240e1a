import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// A live stream, its services and the loader on a clock that moves when nothing else does.
@Suite struct LiveSimulationTests {
    @Test func `an hour of leases, rotation and a poor network passes without a gap`() async throws {
        let faults = NetworkFaults(lossRate: 0.05, outages: [.seconds(1_000)..<(.seconds(1_050))])
        let report = try await play(.seconds(3_600), faults)
        #expect(report.segments == 1_200)
        #expect(report.gaps.isEmpty)
        #expect(report.ends.isEmpty)
        #expect(Set(report.licenses.map(\.key)).count == 8)
        #expect(report.renewals.count >= 8)
        // VuDRM takes a renewal 300 s after the license at the soonest; the lease is 600 s.
        #expect(report.renewals.allSatisfy { (.seconds(300)...(.seconds(600))).contains($0.age) })
    }

    @Test func `an outage beyond the lease ends each key once, and playback comes back with the service`() async throws
    {
        let faults = NetworkFaults(outages: [.seconds(100)..<(.seconds(900))])
        let report = try await play(.seconds(1_200), faults)
        #expect(report.ends.count == 2)
        #expect(report.gaps.count == 2)
        for gap in report.gaps {
            #expect(gap.start == .seconds(600))
            #expect((.seconds(300)...(.seconds(336))).contains(gap.duration))
        }
        #expect(report.licenses.suffix(2).allSatisfy { $0.time >= .seconds(900) })
    }

    private func play(_ duration: Duration, _ faults: NetworkFaults) async throws -> LivePlayer.Report {
        let time = VirtualTime()
        return try await time.run {
            let keys = RotatingKeys()
            let policy = LicensePolicy(standard: LicenseTerms(.lease(.seconds(600))))
            let simulated = try SimulatedServices(
                keys: keys.store(periods: 5), policy: policy, timekeeper: time, faults: faults, hold: { time.hold() })
            let stream = LiveStream(rotation: .seconds(1_200)) { track, period in
                let key = keys.key(track, period: period)
                return LiveStream.Key(
                    uri: KeyURI("skd://services.test/vudrm/license/\(key.lastPathComponent)"), content: key.content)
            }
            var player = LivePlayer(
                stream, loader: try simulated.loader(.vuDRM, leases: LeasePolicy(assumedLease: .seconds(600))),
                applicationSecret: simulated.applicationSecret, timekeeper: time)
            player.lookahead = 10
            return await player.play(for: duration)
        }
    }
}
