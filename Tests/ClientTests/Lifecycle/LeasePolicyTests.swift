import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import Latchkey

@Suite struct LeasePolicyTests {
    private static func plan(
        _ lease: Int, _ vendor: RenewalPolicy = RenewalPolicy(), _ policy: LeasePolicy = LeasePolicy(jitter: 0)
    ) -> Duration? {
        var generator = SeededGenerator(seed: 1)
        return policy.plan(LicenseTerms(.lease(.seconds(lease))), vendor, using: &generator)?.delay
    }

    @Test(arguments: [
        // lease, vendor's lead, vendor's interval, expected
        (600, 60, 0, 450), (200, 60, 0, 140), (60, 60, 0, 30), (10, 60, 0, 5), (2, 60, 0, 1),
        (360, 60, 300, 300), (320, 60, 300, 300), (300, 60, 300, 225), (1_000, 400, 0, 600),
    ])
    func `renewals keep the vendor's lead and interval as far as the lease allows`(
        _ lease: Int, _ lead: Int, _ interval: Int, _ expected: Int
    ) {
        let vendor = RenewalPolicy(minimumLead: lead, minimumInterval: interval)
        #expect(Self.plan(lease, vendor) == .seconds(expected))
    }

    // Terms from an app's own integration, and numbers of a profile in JSON, may be anything.
    @Test(arguments: [Int.max, 1 << 40], [0.75, .nan, .infinity, -.infinity])
    func `a lease of any length has a renewal that a clock can await`(_ lease: Int, _ fraction: Double) throws {
        let vendor = RenewalPolicy(minimumLead: .max, minimumInterval: .max, interval: .max)
        for policy in [LeasePolicy(fraction: fraction), LeasePolicy(fraction: fraction, firstWait: .seconds(Int.max))] {
            let delay = try #require(Self.plan(lease, vendor, policy))
            #expect(delay >= .zero && delay <= .longest)
            var generator = SeededGenerator(seed: 1)
            #expect(policy.plan(nil, vendor, using: &generator).map { $0.delay <= .longest } == true)
            #expect(policy.wait(afterFailures: .max, untilEnd: nil, using: &generator) != nil)
        }
    }

    @Test func `jitter moves renewals earlier, by at most its share of the lease, and spreads them`() {
        let policy = LeasePolicy()
        var generator = SeededGenerator(seed: 1)
        let delays = (0..<100).compactMap { _ in
            policy.plan(LicenseTerms(.lease(.seconds(600))), RenewalPolicy(), using: &generator)?.delay
        }
        #expect(
            delays.count == 100 && delays.allSatisfy { (Duration.seconds(390)...Duration.seconds(450)).contains($0) })
        #expect(Set(delays.map { Int($0.inSeconds) / 6 }).count >= 9)
    }

    @Test func `chance spreads renewals that the vendor's lead moves forward too`() {
        var generator = SeededGenerator(seed: 1)
        let delays = (0..<100).compactMap { _ in
            LeasePolicy().plan(LicenseTerms(.lease(.seconds(60))), RenewalPolicy(), using: &generator)?.delay
        }
        #expect(delays.allSatisfy { (Duration.seconds(24)...Duration.seconds(30)).contains($0) })
        #expect(Set(delays.map { Int($0.inSeconds) }).count >= 6)
    }

    @Test func `waits double, stay below half of the rest, and end with the lease`() {
        let policy = LeasePolicy()
        var generator = SeededGenerator(seed: 1)
        let waits = (1...8).compactMap { policy.wait(afterFailures: $0, untilEnd: nil, using: &generator) }
        let longest = [5, 10, 20, 40, 60, 60, 60, 60].map { Duration.seconds($0) }
        #expect(zip(waits, longest).allSatisfy { $0 <= $1 && $0 >= $1 / 2 })
        #expect(policy.wait(afterFailures: 8, untilEnd: .seconds(20), using: &generator) == .seconds(10))
        #expect(policy.wait(afterFailures: 8, untilEnd: .seconds(1), using: &generator) == nil)
    }

    @Test(arguments: [-1.0, 0, 2, .infinity]) func `absurd fractions still renew within the lease`(
        _ fraction: Double
    ) {
        let delay = Self.plan(600, RenewalPolicy(), LeasePolicy(fraction: fraction, jitter: 5))
        #expect(delay.map { $0 >= .zero && $0 <= .seconds(540) } == true)
    }
}
