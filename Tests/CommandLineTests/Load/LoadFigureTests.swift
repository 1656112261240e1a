import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyCommandLine

@Suite(.timeLimit(.minutes(1))) struct LatencyHistogramTests {
    @Test(arguments: [1, 7, 63, 64, 65, 1_000, 12_345, 1_000_000, 3_599_000_000])
    func `a latency is exact to 1.6 %`(microseconds: Int) throws {
        var histogram = LatencyHistogram()
        histogram.add(.microseconds(microseconds))
        histogram.add(.seconds(10_000))
        let seen = try #require(histogram.quantile(0.5)).inSeconds * 1e6
        #expect(seen >= Double(microseconds) - 0.001)
        #expect(seen <= Double(microseconds) * 1.016 + 0.001)
    }

    @Test func `quantiles match a sorted list`() throws {
        var generator = SeededGenerator(seed: 3)
        let values = (0..<5_000).map { _ in Int.random(in: 100...2_000_000, using: &generator) }
        var (one, other) = (LatencyHistogram(), LatencyHistogram())
        for (index, value) in values.enumerated() {
            if index % 2 == 0 { one.add(.microseconds(value)) } else { other.add(.microseconds(value)) }
        }
        one.add(other)
        #expect(one.count == 5_000)
        for part in [0.5, 0.9, 0.99, 0.999] {
            let exact = Double(values.sorted()[Int((part * 5_000).rounded(.up)) - 1])
            let seen = try #require(one.quantile(part)).inSeconds * 1e6
            #expect(abs(seen - exact) <= exact * 0.016)
        }
        #expect(one.quantile(1) == one.largest)
    }

    @Test func `an empty histogram has no quantile; outliers count at its ends`() {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil)
        histogram.add(.seconds(-1))
        histogram.add(.seconds(Int64.max))
        #expect(histogram.quantile(0) == .zero)
        #expect(histogram.count == 2)
    }
}

@Suite(.timeLimit(.minutes(1))) struct LoadPlanTests {
    @Test func `arrivals come at the given rate, randomly or evenly spaced`() {
        var plan = LoadPlan()
        (plan.rate, plan.length) = (200, .seconds(100))
        let drawn = Array(plan.starts())
        #expect((19_000...21_000).contains(drawn.count))
        #expect(zip(drawn, drawn.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(Array(plan.starts()) == drawn)
        plan.arrivals = .fixed
        (plan.rate, plan.length) = (4, .seconds(1))
        #expect(Array(plan.starts()) == [0.25, 0.5, 0.75].map { .seconds($0) })
    }
}

@Suite(.timeLimit(.minutes(1))) struct LoadOutcomeTests {
    @Test(arguments: [
        (200, false, LoadOutcome.granted), (204, false, .granted), (403, false, .refused), (409, true, .refused),
        (429, false, .shed), (503, true, .shed), (503, false, .failed), (502, false, .failed), (302, false, .failed),
    ])
    func `a status gives the request's outcome`(status: Int, asks: Bool, outcome: LoadOutcome) {
        #expect(LoadOutcome(status: status, asksToComeAgain: asks) == outcome)
    }

    @Test func `a refusal's code follows its status in one short line`() {
        let body = Data(#"{"error": {"code": "a\u001b\n\#(String(repeating: "b", count: 100))"}}"#.utf8)
        let label = LoadReply(status: 403, body: body).label
        #expect(label.hasPrefix("403 a"))
        #expect(label.utf8.allSatisfy { $0 >= 0x20 })
        #expect(label.count < 60)
        #expect(LoadReply(status: 502, body: Data("no JSON".utf8)).label == "502")
    }
}
