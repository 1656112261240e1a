import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyCommandLine

/// The sizing's simulation against closed forms.
@Suite(.timeLimit(.minutes(5))) struct SizingTests {
    /// Whether a figure is another one, but for so small a part.
    private static func isNear(_ figure: Double, _ expected: Double, within part: Double = 0.02) -> Bool {
        abs(figure - expected) <= part * abs(expected)
    }

    /// The mean of something in the seconds of a result.
    private static func mean(_ result: SizingResult, _ value: (SizingResult.Second) -> Double) -> Double {
        result.timeline.map(value).reduce(0, +) / Double(result.timeline.count)
    }

    /// Cores with an unlimited queue.
    private static func station(_ cores: Double, limit: Double = .infinity) -> SizingStation {
        SizingStation(cores: cores, coresPerQueue: cores, limit: limit, binSeconds: 0.1)
    }

    @Test func `a station's load is its rate times its cost, with no backlog`() {
        var station = Self.station(4)
        for _ in 0..<100 {
            // 2,000 a second of 500 µs, and 3,000 of 200 µs, on four cores.
            let outcome = station.take([(200, 0.000_5), (300, 0.000_2)])
            #expect(abs(outcome.fullness - 1.6 / 4) < 1e-9)
            #expect(outcome.taken == [1, 1] && station.backlog == 0)
        }
    }

    @Test func `work beyond a station's rate waits until it is done`() {
        var station = Self.station(1)
        // 3,000 a second of 500 µs for 2 s: a second of work is left, and the last one waits for it.
        var outcome = SizingStation.Outcome()
        for _ in 0..<20 { outcome = station.take([(300, 0.000_5)]) }
        #expect(abs(station.backlog - 1) < 1e-9 && abs(outcome.fullness - 1) < 1e-9)
        #expect((0.95...1.1).contains(outcome.wait))
        for _ in 0..<10 { _ = station.take([]) }
        #expect(station.backlog < 1e-9)
    }

    @Test func `beyond its limit a station serves earlier kinds first, and refusing costs time`() {
        var station = Self.station(2, limit: 0)
        // A bin of 200 ms of cores: 100 ms for all of the first, 100 ms for half of the second.
        let free = station.take([(200, 0.000_5), (400, 0.000_5)])
        #expect(free.taken == [1, 0.5] && station.backlog == 0)
        // With 100 µs for each of n that are refused: (400 − n)·500 + n·100 = 100,000 µs, n = 250.
        let costly = station.take([(200, 0.000_5), (400, 0.000_5)], refusal: 0.000_1)
        #expect(costly.taken[0] == 1 && abs(costly.taken[1] - 150 / 400) < 1e-9)
        #expect(abs(costly.fullness - 1) < 1e-9)
    }

    @Test func `a long-playing crowd sends renewals and heartbeats at a steady rate`() {
        var plan = SizingPlan()
        (plan.viewers, plan.jitter, plan.heartbeat) = (240_000, 0, .seconds(30))
        let result = SizingResult("steady", plan)
        // Two keys after 240 s each; 8,000 heartbeats a second.
        #expect(Self.isNear(result.licenses, 2_000))
        #expect(Self.isNear(Self.mean(result, \.heartbeats), 8_000, within: 1e-9))
        #expect(result.timeline.allSatisfy { (1_500...2_500).contains($0.licenses) })
        let work = 2_000 * plan.costs.license + 8_000 * plan.costs.heartbeat
        let cores = Double(result.nodes.count * 8)
        #expect(Self.isNear(Self.mean(result, \.nodes) * cores * 1e6, work))
    }

    @Test func `each viewer who comes and goes costs a start and the renewals that fit`() {
        var plan = SizingPlan()
        (plan.viewers, plan.jitter, plan.heartbeat, plan.keysPerPlayback) = (100_000, 0, .seconds(30), 1)
        plan.watching = .seconds(500)
        // 200 begin a second; each renews after 240 and 480 s, and sends 16 heartbeats before 500 s.
        let steady = SizingResult("steady", plan)
        #expect(Self.isNear(steady.licenses, 600))
        #expect(Self.isNear(Self.mean(steady, \.heartbeats), 3_200))
        // The same crowd that begins together: there are no heartbeats in the second in which all have left.
        plan.kickOff = .seconds(1)
        let arrivals = SizingArrivals(plan)
        #expect(arrivals.starts.prefix(10).reduce(0, +) == 100_000)
        #expect(arrivals.starts[5_000..<5_010].reduce(0, +) == 100_000)
        #expect(arrivals.heartbeats[4_800..<4_810].reduce(0, +) == 100_000)
        #expect(arrivals.heartbeats[5_100..<5_110].reduce(0, +) == 0)
        #expect(arrivals.heartbeats[5_300..<5_310].reduce(0, +) == 100_000)
    }

    @Test func `a kick-off peaks at its rate, and jitter spreads its storm of renewals`() {
        var plan = SizingPlan()
        (plan.viewers, plan.kickOff) = (600_000, .seconds(60))
        func rates(_ jitter: Double) -> [Double] {
            plan.jitter = jitter
            return SizingResult("kick-off", plan).timeline.map(\.licenses)
        }
        let (sharp, spread) = (rates(0), rates(0.1))
        // 10,000 playbacks a second with two keys each, again after 240 s.
        for seconds in [0..<60, 240..<300] {
            #expect(seconds.allSatisfy { Self.isNear(sharp[$0], 20_000, within: 0.05) }, "\(seconds)")
        }
        #expect((sharp[60..<240] + sharp[300..<480]).max() == 0)
        // The 60 s of renewals begin up to 24 s early, from 216 to 240 s on. None is lost.
        #expect(Self.isNear(spread[30], 20_000, within: 0.05))
        #expect((spread[60..<216] + spread[300..<420]).max() == 0)
        #expect((10_000...17_000).contains(spread[230]))
        #expect(Self.isNear(spread[216..<300].reduce(0, +), 1_200_000, within: 0.01))
    }

    @Test func `a plan is judged by waits, refusals and capacity`() {
        var plan = SizingPlan()
        (plan.viewers, plan.kickOff, plan.nodes, plan.coresPerNode) = (100_000, .seconds(10), 1, 4)
        (plan.keysPerPlayback, plan.jitter, plan.lease, plan.primaries) = (1, 0, .seconds(600), 1)
        plan.costs = .best
        plan.costs.license = 800
        // 10,000 a second of 800 µs on four cores: twice as much as they can do.
        let short = SizingResult("short", plan)
        #expect(Self.isNear(short.nodes.fullest, 2, within: 0.05) && short.bottleneck == .nodes && !short.suffices)
        #expect(Self.isNear(Double(short.carries), 35_000, within: 0.05))
        #expect(short.refused > 20_000 && short.givenUp > 0 && short.latency.max > 1_000)
        #expect(short.nodes.needed == 3)
        // A refused viewer is not refused forever.
        plan.retries = 10
        let patient = SizingResult("patient", plan)
        #expect(patient.givenUp < short.givenUp && patient.refused > short.refused)

        plan.nodes = 3
        let enough = SizingResult("enough", plan)
        #expect(enough.refused == 0 && enough.givenUp == 0 && enough.suffices && enough.latency.p99 < 5)
        // A primary that is full does not refuse: licenses do without it.
        (plan.nodes, plan.costs.redisLicense) = (3, 150)
        let slow = SizingResult("slow", plan)
        #expect(slow.bottleneck == .primaries && slow.refused == 0 && !slow.suffices)
        #expect(Self.isNear(slow.primaries.fullest, 1.5, within: 0.05))
        // A third of the kick-off, and of both renewals.
        #expect(Self.isNear(Double(slow.refusedByStore), 100_000, within: 0.05))
    }

    @Test func `accounts are spread over primaries by hash, nearly evenly`() {
        var plan = SizingPlan()
        (plan.viewers, plan.heartbeat, plan.primaries) = (1_000_000, .seconds(30), 3)
        let three = SizingResult("three", plan)
        plan.primaries = 1
        let one = SizingResult("one", plan)
        #expect((0.333...0.34).contains(three.primaries.fullest / one.primaries.fullest))
    }

    @Test func `a seed gives one result, and another seed another`() throws {
        func json(_ seed: UInt64) throws -> Data {
            var plan = SizingPlan()
            (plan.viewers, plan.kickOff, plan.heartbeat, plan.seed) = (5_000, .seconds(20), .seconds(30), seed)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode(SizingReport(plan, isOwn: true, crowds: [2_000]))
        }
        #expect(try json(3) == json(3))
        #expect(try json(3) != json(4))
    }

    @Test func `draws have their means, and a split loses nothing`() {
        var draws = SizingDraws(seed: 1)
        for mean in [0.3, 5, 200, 50_000] {
            let values = (0..<2_000).map { _ in draws.poisson(mean) }
            let average = values.reduce(0, +) / 2_000
            let variance = values.map { ($0 - average) * ($0 - average) }.reduce(0, +) / 2_000
            #expect(Self.isNear(average, mean, within: 5 / (2_000 * mean).squareRoot()), "\(mean)")
            #expect((0.8...1.2).contains(variance / mean), "\(mean)")
        }
        for number in [0, 1, 7, 150, 3_000, 1_000_000] {
            let parts = draws.split(number, over: 17)
            #expect(parts.reduce(0, +) == Double(number) && parts.allSatisfy { $0 >= 0 && $0 == $0.rounded() })
        }
        let uneven = draws.split(100_000, shares: [0.7, 0.2, 0.1])
        #expect(Self.isNear(uneven[0], 70_000) && Self.isNear(uneven[2], 10_000, within: 0.07))
    }
}
