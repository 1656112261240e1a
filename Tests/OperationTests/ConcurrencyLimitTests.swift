import LatchkeyCore
import LatchkeyHTTP
import Testing

@Suite(.timeLimit(.minutes(1))) struct ConcurrencyLimitTests {
    /// Runs as many requests as allowed, each for the same time, round after round.
    private func run(_ limit: ConcurrencyLimit, rounds: Int, each duration: Duration, from start: Duration = .zero) {
        for round in 1...rounds {
            var count = 0
            while limit.begin(.renewal) { count += 1 }
            for _ in 0..<count { limit.end(after: duration, at: start + duration * round) }
        }
    }

    @Test func `it accepts up to the limit, and one more when one has ended`() {
        let limit = ConcurrencyLimit(least: 1)
        for _ in 0..<4 { #expect(limit.begin(.renewal)) }
        #expect(!limit.begin(.renewal))
        limit.end(after: .milliseconds(100), at: .zero)
        #expect(limit.begin(.renewal))
        #expect(limit.running == 4)
    }

    @Test func `it rises while requests are answered in time, whatever a store takes`() {
        let limit = ConcurrencyLimit(least: 4, most: 200)
        run(limit, rounds: 500, each: .milliseconds(30))
        #expect(limit.limit == 200)
    }

    @Test func `it falls to the minimum when requests are late, and a round of late ones counts once`() {
        let limit = ConcurrencyLimit(least: 4)
        run(limit, rounds: 1, each: .milliseconds(90))
        #expect(limit.limit == 12)
        run(limit, rounds: 50, each: .milliseconds(90), from: .seconds(1))
        #expect(limit.limit == 4)
        run(limit, rounds: 200, each: .milliseconds(10), from: .seconds(60))
        #expect(limit.limit > 50)
    }

    @Test func `it does not rise under low load`() {
        let limit = ConcurrencyLimit(least: 8)
        for number in 0..<1_000 {
            #expect(limit.begin(.renewal))
            limit.end(after: .milliseconds(1), at: .milliseconds(number))
        }
        #expect(limit.limit == 32)
        #expect(limit.running == 0)
    }

    @Test func `starts leave a quarter to renewals, and downloads half to both`() {
        let limit = ConcurrencyLimit(least: 4)
        var count = 0
        for lane in [AdmissionLane.stored, .start, .renewal] {
            while limit.begin(lane) { count += 1 }
            #expect(count == [.stored: 8, .start: 12, .renewal: 16][lane])
        }
        for lane in AdmissionLane.allCases { #expect(!limit.begin(lane)) }
    }

    @Test func `a client with many requests leaves a quarter to smaller ones`() {
        let limit = ConcurrencyLimit(least: 8)
        var greedy = 0
        while limit.begin(.renewal, of: 1) { greedy += 1 }
        #expect(greedy == 24)
        for client in 2...9 { #expect(limit.begin(.renewal, of: client)) }
        #expect(!limit.begin(.renewal, of: 10))
        // A client whose requests have all ended counts as a small one again.
        for _ in 0..<greedy { limit.end(after: .milliseconds(1), of: 1, at: .zero) }
        #expect(limit.running == 8)
        for _ in 0..<4 { #expect(limit.begin(.renewal, of: 1)) }
    }

    @Test func `a lone client gets nearly all, and the limit rises for it`() {
        let limit = ConcurrencyLimit(least: 4, most: 200)
        for round in 1...1_500 {
            var count = 0
            while limit.begin(.renewal, of: 1) { count += 1 }
            for _ in 0..<count { limit.end(after: .milliseconds(10), of: 1, at: .milliseconds(10 * round)) }
        }
        #expect(limit.limit == 200)
    }

    @Test func `a refusal behind the limit lowers the limit, however soon it comes`() {
        let limit = ConcurrencyLimit(least: 4)
        while limit.begin(.renewal) {}
        limit.end(after: .milliseconds(1), wasShed: true, at: .seconds(1))
        #expect(limit.limit == 12)
    }
}
