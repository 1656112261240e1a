import LatchkeyCore
import Testing

@testable import LatchkeySystem

@Suite struct CircuitBreakerTests {
    private static let limits = CircuitBreaker.Limits(patience: .seconds(2), pause: .seconds(10))
    private let breaker = Locked(CircuitBreaker(limits))

    private var phase: CircuitBreaker.Phase { breaker.withLock { $0.phase } }
    private var isAway: Bool { breaker.withLock { $0.isAway } }

    private func permit(at uptime: Duration) -> CircuitBreaker.Permit? { breaker.withLock { $0.permit(at: uptime) } }

    private enum Outcome { case answers, isLate, fails }

    private func ask(at second: Double, _ outcome: Outcome) throws {
        let now = Duration.seconds(second)
        let leave = try #require(permit(at: now))
        breaker.withLock {
            switch outcome {
            case .answers: $0.answered(leave, at: now)
            case .isLate: $0.failed(leave, isLate: true, at: now)
            case .fails: $0.failed(leave, isLate: false, at: now)
            }
        }
    }

    @Test func `failures beyond patience open it, however many come in one stall`() throws {
        for _ in 0..<100 { try ask(at: 0, .isLate) }
        try ask(at: 1.9, .isLate)
        try ask(at: 1.9, .answers)
        try ask(at: 2, .isLate)
        for _ in 0..<100 { try ask(at: 3.9, .isLate) }
        #expect(phase == .closed && !isAway)
        try ask(at: 4, .isLate)
        #expect(phase == .open && isAway)
        #expect(permit(at: .seconds(4)) == nil)
        #expect(permit(at: .milliseconds(13_999)) == nil)
        #expect(permit(at: .seconds(14)) != nil)
        #expect(phase == .halfOpen)
    }

    @Test func `an engine that reports failure is down from the first one on, and left alone later`() throws {
        try ask(at: 0, .fails)
        #expect(isAway && phase == .closed)
        try ask(at: 1, .answers)
        #expect(!isAway)
        try ask(at: 100, .fails)
        try ask(at: 102, .fails)
        #expect(isAway && phase == .open)
    }

    @Test func `half open, one asks at a time, and an answer closes it`() throws {
        for second in [0.0, 2] { try ask(at: second, .fails) }
        let first = try #require(permit(at: .seconds(12)))
        #expect(permit(at: .seconds(12)) == nil)
        #expect(phase == .halfOpen)
        breaker.withLock { $0.answered(first, at: .seconds(12)) }
        #expect(phase == .closed && !isAway)
        #expect(permit(at: .seconds(12)) != nil && permit(at: .seconds(12)) != nil)
    }

    @Test func `half open, one failure opens it again for the whole pause`() throws {
        for second in [0.0, 2] { try ask(at: second, .fails) }
        try ask(at: 12, .isLate)
        #expect(phase == .open)
        #expect(permit(at: .seconds(21)) == nil)
        #expect(permit(at: .seconds(22)) != nil)
    }

    @Test func `half open, a cancelled one makes way for the next`() throws {
        for second in [0.0, 2] { try ask(at: second, .fails) }
        let first = try #require(permit(at: .seconds(12)))
        breaker.withLock { $0.gaveUp(first) }
        try ask(at: 12, .answers)
        #expect(phase == .closed)
    }

    @Test func `an engine that fails again within a minute must answer longer each time to be back`() throws {
        try ask(at: 0, .fails)
        try ask(at: 1, .answers)
        #expect(!isAway)
        var now = 1.0
        for seconds in [1.0, 2, 4, 8, 16, 30, 30] {
            try ask(at: now + 1, .fails)
            try ask(at: now + 2, .answers)
            try ask(at: now + 2 + seconds - 0.1, .answers)
            #expect(isAway, "\(seconds)")
            try ask(at: now + 2 + seconds, .answers)
            #expect(!isAway, "\(seconds)")
            now += 2 + seconds
        }
        try ask(at: now + 60, .fails)
        try ask(at: now + 60, .answers)
        #expect(!isAway)
    }

    @Test func `a flapping engine is down all the time, and tried once each pause`() throws {
        for second in [0.0, 2] { try ask(at: second, .fails) }
        try ask(at: 12, .answers)
        for second in [13.0, 15] { try ask(at: second, .fails) }
        try ask(at: 25, .answers)
        #expect(isAway && phase == .open)
        try ask(at: 35, .answers)
        #expect(!isAway && phase == .closed)
    }

    @Test func `results of an earlier phase do not count`() throws {
        let late = try #require(permit(at: .zero))
        let later = try #require(permit(at: .zero))
        for second in [0.0, 2] { try ask(at: second, .fails) }
        let trial = try #require(permit(at: .seconds(12)))
        breaker.withLock { $0.failed(late, isLate: false, at: .seconds(12)) }
        breaker.withLock { $0.answered(later, at: .seconds(12)) }
        #expect(phase == .halfOpen)
        #expect(permit(at: .seconds(12)) == nil)
        breaker.withLock { $0.answered(trial, at: .seconds(12)) }
        #expect(phase == .closed)
    }

    @Test func `a part of this process is never left alone`() throws {
        let embedded = Locked(CircuitBreaker(.embedded))
        for second in 0..<1_000 {
            let now = Duration.seconds(second)
            let leave = try #require(embedded.withLock { $0.permit(at: now) })
            embedded.withLock { $0.failed(leave, isLate: true, at: now) }
        }
        #expect(embedded.withLock { $0.phase } == .closed && !embedded.withLock { $0.isAway })
    }
}
