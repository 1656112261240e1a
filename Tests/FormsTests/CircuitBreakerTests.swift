import LatchkeyCore
import Testing

@testable import LatchkeySystem

@Suite struct CircuitBreakerTests {
    private static let limits = CircuitBreaker.Limits(failures: 3, pause: .seconds(10), successes: 2)
    private let breaker = Locked(CircuitBreaker(limits))

    private var phase: CircuitBreaker.Phase { breaker.withLock { $0.phase } }

    private func permit(at uptime: Duration) -> CircuitBreaker.Permit? { breaker.withLock { $0.permit(at: uptime) } }

    private func ask(at second: Int, fails: Bool) throws {
        let leave = try #require(permit(at: .seconds(second)))
        breaker.withLock { fails ? $0.failed(leave, at: .seconds(second)) : $0.answered(leave) }
    }

    @Test func `failures in a row open it`() throws {
        try ask(at: 0, fails: true)
        try ask(at: 0, fails: true)
        try ask(at: 0, fails: false)
        try ask(at: 1, fails: true)
        try ask(at: 1, fails: true)
        #expect(phase == .closed)
        try ask(at: 2, fails: true)
        #expect(phase == .open)
        #expect(permit(at: .seconds(2)) == nil)
        #expect(permit(at: .milliseconds(11_999)) == nil)
        #expect(permit(at: .seconds(12)) != nil)
        #expect(phase == .halfOpen)
    }

    @Test func `half open, one asks at a time, and enough answers close it`() throws {
        for _ in 0..<3 { try ask(at: 0, fails: true) }
        let first = try #require(permit(at: .seconds(10)))
        #expect(permit(at: .seconds(10)) == nil)
        breaker.withLock { $0.answered(first) }
        #expect(phase == .halfOpen)
        try ask(at: 11, fails: false)
        #expect(phase == .closed)
        #expect(permit(at: .seconds(11)) != nil && permit(at: .seconds(11)) != nil)
    }

    @Test func `half open, one failure opens it again for the whole pause`() throws {
        for _ in 0..<3 { try ask(at: 0, fails: true) }
        try ask(at: 10, fails: false)
        try ask(at: 15, fails: true)
        #expect(phase == .open)
        #expect(permit(at: .seconds(24)) == nil)
        #expect(permit(at: .seconds(25)) != nil)
    }

    @Test func `results of an earlier phase do not count`() throws {
        let late = try #require(permit(at: .zero))
        let later = try #require(permit(at: .zero))
        for _ in 0..<3 { try ask(at: 0, fails: true) }
        let trial = try #require(permit(at: .seconds(10)))
        breaker.withLock { $0.failed(late, at: .seconds(10)) }
        breaker.withLock { $0.answered(later) }
        #expect(phase == .halfOpen)
        #expect(permit(at: .seconds(10)) == nil)
        breaker.withLock { $0.answered(trial) }
        try ask(at: 10, fails: false)
        #expect(phase == .closed)
    }

    @Test(arguments: [0, -3]) func `limits below one count as one`(_ limit: Int) {
        let limits = CircuitBreaker.Limits(failures: limit, successes: limit)
        #expect(limits.failures == 1 && limits.successes == 1)
    }
}
