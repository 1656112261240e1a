import LatchkeyLicensing
import LatchkeyTesting
import Testing

@Suite struct RateLimiterTests {
    private let clock = ManualTimekeeper()

    private func limiter(_ limit: RateLimit, buckets: Int = 1_000) -> RateLimiter {
        RateLimiter([.subject: limit], buckets: buckets, timekeeper: clock)
    }

    @Test func `a burst passes, then one per interval`() {
        let limiter = limiter(RateLimit(10, per: .seconds(1), burst: 3))
        #expect((1...3).allSatisfy { _ in limiter.refusal(.subject, "u") == nil })
        #expect(limiter.refusal(.subject, "u") == .milliseconds(100))
        clock.advance(by: .milliseconds(60))
        #expect(limiter.refusal(.subject, "u") == .milliseconds(40))
        clock.advance(by: .milliseconds(40))
        #expect(limiter.refusal(.subject, "u") == nil)
        #expect(limiter.refusal(.subject, "u") != nil)
        clock.advance(by: .seconds(100))
        #expect((1...3).allSatisfy { _ in limiter.refusal(.subject, "u") == nil })
        #expect(limiter.refusal(.subject, "u") != nil)
    }

    @Test func `over a long time only the rate passes`() {
        let limiter = limiter(RateLimit(10, per: .seconds(1), burst: 5))
        var passed = 0
        for _ in 0..<1_000 {
            if limiter.refusal(.subject, "u") == nil { passed += 1 }
            clock.advance(by: .milliseconds(10))
        }
        #expect(100...105 ~= passed)
    }

    @Test func `names, tenants and scopes have separate buckets`() {
        let limiter = limiter(RateLimit(1, per: .seconds(1)))
        #expect(limiter.refusal(.subject, "u", tenant: "a") == nil)
        #expect(limiter.refusal(.subject, "u", tenant: "a") != nil)
        #expect(limiter.refusal(.subject, "u", tenant: "b") == nil)
        #expect(limiter.refusal(.subject, "v", tenant: "a") == nil)
        #expect((1...100).allSatisfy { _ in limiter.refusal(.address, "u", tenant: "a") == nil })
    }

    @Test func `nodes share a limit`() {
        let limiter = limiter(RateLimit(100, per: .seconds(1), burst: 4, nodes: 4))
        #expect(limiter.refusal(.subject, "u") == nil)
        #expect(limiter.refusal(.subject, "u") == .milliseconds(40))
    }

    @Test func `a million names stay within the memory limit, and a frequent one is not forgotten`() {
        let limiter = limiter(RateLimit(1, per: .seconds(1_000)), buckets: 100)
        #expect(limiter.refusal(.subject, "steady") == nil)
        for name in 0..<10_000 {
            _ = limiter.refusal(.subject, "\(name)")
            if name % 20 == 0 { #expect(limiter.refusal(.subject, "steady") != nil) }
        }
        #expect(limiter.count <= 100)
    }
}
