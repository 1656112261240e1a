import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct RetryPolicyTests {
    private func wait(_ policy: RetryPolicy, after attempt: Int, asked: Duration? = nil, seed: UInt64 = 1) -> Duration?
    {
        var generator = SeededGenerator(seed: seed)
        return policy.wait(after: attempt, serviceAsksFor: asked, using: &generator)
    }

    @Test(arguments: [(1, 500), (2, 1_000), (3, 2_000), (4, 4_000), (5, 8_000), (6, 8_000), (60, 8_000)])
    func `waits double up to the maximum`(attempt: Int, milliseconds: Int) {
        #expect(wait(RetryPolicy(maximumAttempts: 99, jitter: 0), after: attempt) == .milliseconds(milliseconds))
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `jitter takes away up to its share`(seed: UInt64) throws {
        let wait = try #require(self.wait(RetryPolicy(), after: 1, seed: seed))
        #expect(wait >= .milliseconds(250) && wait <= .milliseconds(500))
    }

    @Test func `jitter spreads`() {
        #expect(Set((0..<50).map { wait(RetryPolicy(), after: 1, seed: $0) }).count == 50)
    }

    @Test(arguments: [-1, 2, .nan, .infinity] as [Double])
    func `an odd share makes no negative wait`(jitter: Double) throws {
        let wait = try #require(self.wait(RetryPolicy(jitter: jitter), after: 1))
        #expect(wait >= .zero && wait <= .milliseconds(500))
    }

    @Test func `ends with the last attempt`() {
        #expect(wait(RetryPolicy(), after: 2) != nil)
        #expect(wait(RetryPolicy(), after: 3) == nil)
        #expect(wait(.never, after: 1) == nil)
    }

    @Test func `the service's wait is kept exactly, or the key is given up`() {
        #expect(wait(RetryPolicy(), after: 1, asked: .seconds(8)) == .seconds(8))
        #expect(wait(RetryPolicy(), after: 1, asked: .zero) == .zero)
        #expect(wait(RetryPolicy(), after: 1, asked: .milliseconds(8_001)) == nil)
    }

    @Test func `Retry-After is honored`() async {
        let harness = Harness(post: [.status(503, [("Retry-After", "7")]), .ckc])
        let request = FakeKeyRequest(key)
        harness.loader.answer(request)
        await harness.advance([.seconds(7)])
        #expect(await request.firstAnswer().ckc == SampleBytes.ckc())
    }

    @Test func `a Retry-After beyond the maximum ends the key and is reported`() async {
        let harness = Harness(post: [.status(503, [("Retry-After", "9")])])
        let error = await harness.answer().error
        #expect(error?.service == ServiceReply(status: 503, retryAfter: 9))
        #expect(error?.isRetryable == true && error?.attempts == 1 && harness.posts.count == 1)
    }

    @Test(arguments: [Double.infinity, .nan, -.infinity, -1, 1e300])
    func `an odd wait from an app's integration does no harm`(seconds: Double) async {
        struct Odd: VendorIntegration {
            let identifier = "odd"
            let seconds: Double
            func bundledCertificate() throws -> ApplicationCertificate? {
                try ApplicationCertificate(SampleBytes.certificate)
            }
            func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
                throw IntegrationError(
                    .serverTransient, "Odd.", service: ServiceReply(status: 503, retryAfter: seconds))
            }
        }
        let harness = Harness(Odd(seconds: seconds)) { $0.hosts = HostPolicy(allowed: ["fairplay-license.vudrm.tech"]) }
        #expect(await harness.answer().error?.code == "serverTransient")
    }
}
