import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// Hours of a live stream with a lease of ten minutes and a new key each hour, in virtual time, over a bad network.
@Suite(.timeLimit(.minutes(5))) struct LongStreamTests {
    private static let lease = Duration.seconds(600)
    private static let hour = Duration.seconds(3_600)
    /// The fraction of a lease that remains when its renewal is due: a quarter.
    private static let slack = lease / 4

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `twelve hours play without a gap through lost replies, short-lived tokens and outages`(seed: UInt64)
        async throws
    {
        // One outage in each hour, at different moments of the leases and sometimes across the change of keys.
        let outages = (0..<12).map { hour -> Range<Duration> in
            let start = Self.hour * hour + .seconds(437 * (hour + 1) % 3_540)
            return start..<start + Self.slack - .seconds(30)
        }
        let faults = NetworkFaults(lossRate: 0.05, seed: seed, outages: outages, delay: .milliseconds(50))
        let report = try await Self.play(for: Self.hour * 12, faults, seed: seed)

        #expect(report.segments == 2 * 7_200)
        #expect(report.gaps.isEmpty)
        #expect(report.ends.isEmpty)
        #expect(!report.failures.isEmpty, "the outages were felt")
        let first = report.firstRenewals
        #expect(first.count > 24 * 6)
        // A tenth of the lease is random; the player needs a moment to request the renewal.
        #expect(first.allSatisfy { (Self.lease * 0.649...Self.lease * 0.751).contains($0.age) })
        #expect(report.renewals.allSatisfy { $0.age < Self.lease })
        // A key is released at the end of its hour. Two are held, so within 12 hours every license except the last one of a key
        // was renewed in time.
        #expect(Set(report.licenses.map(\.key)).count == 24 + 2)
    }

    @Test func `an outage beyond the leases is one error per key, and playback returns with the service`()
        async throws
    {
        let outage = Duration.seconds(5_000)..<Duration.seconds(5_000) + Self.lease + .seconds(300)
        let faults = NetworkFaults(lossRate: 0.05, seed: 4, outages: [outage], delay: .milliseconds(50))
        let report = try await Self.play(for: Self.hour * 3, faults, seed: 4)

        #expect(report.ends.map(\.error.code) == ["leaseEnded", "leaseEnded"])
        #expect(Set(report.ends.map(\.key)).count == 2)
        #expect(report.ends.allSatisfy { outage.contains($0.time) })
        #expect(report.gaps.count == 2)
        let limit = outage.upperBound + .seconds(45)
        #expect(report.gaps.allSatisfy { outage.contains($0.start) && $0.start + $0.duration <= limit })
        let late = report.renewals.filter { renewal in
            report.ends.contains { $0.key == renewal.key && $0.time < renewal.time && renewal.time < outage.upperBound }
        }
        #expect(late.isEmpty, "no renewal after the end")
    }

    private static func play(
        for duration: Duration, _ faults: NetworkFaults, seed: UInt64
    ) async throws -> LivePlayer.Report {
        let time = VirtualTime()
        return try await time.run {
            let keys = RotatingKeys(seed: seed)
            let simulated = try SimulatedServices(
                keys: keys.store(periods: 14), policy: LicensePolicy(standard: LicenseTerms(.lease(lease))),
                timekeeper: time, faults: faults, hold: { time.hold() })
            // VuDRM's reply is the bare CKC, so the app states the lease.
            let configuration = LoaderConfiguration(leases: LeasePolicy(assumedLease: lease))
            let loader = try simulated.loader(.vuDRM, configuration: configuration, seed: seed)
            defer { loader.cancel() }
            let all = (0..<14).map { period in
                Dictionary(
                    uniqueKeysWithValues: keys.tracks.map { track in
                        let key = keys.key(track, period: period)
                        let uri = KeyURI("skd://services.test/vudrm/license/\(key.lastPathComponent)")
                        return (track, LiveStream.Key(uri: uri, content: key.content))
                    })
            }
            let stream = LiveStream(rotation: hour) { track, period in all[period][track] ?? LiveStream.Key(uri: "") }
            var player = LivePlayer(
                stream, loader: loader, applicationSecret: simulated.applicationSecret, timekeeper: time)
            // Three minutes: a new key, too, is requested early enough to survive an outage.
            player.lookahead = 30
            return await player.play(for: duration)
        }
    }
}

extension LivePlayer.Report {
    /// The first renewal of each license, except renewals after a failure.
    fileprivate var firstRenewals: [Renewal] {
        renewals.filter { renewal in
            !failures.contains {
                $0.key == renewal.key && $0.purpose == .renewal && $0.time <= renewal.time
                    && $0.time >= renewal.time - renewal.age
            }
        }
    }
}
