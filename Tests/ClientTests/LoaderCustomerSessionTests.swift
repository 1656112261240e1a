import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app's callbacks of `customer-ssm` with licenses from a loader.
@Suite(.timeLimit(.minutes(5))) struct LoaderCustomerSessionTests {
    private func license(
        _ harness: Harness, _ type: CustomerLicenseType = .request, every period: Int = 0,
        heartbeat: (@Sendable () async throws -> Void)? = nil
    ) async throws -> CustomerLicense {
        let app = LoaderCustomerSession(harness.loader, key: key, every: period, heartbeat: heartbeat)
        return try await app.license(keySystem: CustomerSession.keySystem, payload: SampleBytes.spc, type: type)
    }

    @Test func `the license comes from the loader, with its SPC and credentials`() async throws {
        let harness = Harness()
        let license = try await license(harness)
        #expect(license.ckc == SampleBytes.ckc() && license.heartbeat == 0 && license.renewType == .enforced)
        #expect(harness.posts.map(\.httpBody) == [SampleBytes.spc] && harness.credentials.reasons == [.first])
    }

    @Test func `a renewal asks for credentials to renew`() async throws {
        let harness = Harness()
        _ = try await license(harness, .renewal)
        #expect(harness.credentials.reasons == [.renewal])
    }

    @Test func `a heartbeat keeps the session alive as often as the app says`() async throws {
        let beats = Locked(0)
        let harness = Harness()
        let app = LoaderCustomerSession(harness.loader, key: key, every: 30) { beats.withLock { $0 += 1 } }
        let license = try await app.license(keySystem: "", payload: SampleBytes.spc, type: .request)
        #expect(license.heartbeat == 30 && license.renewType == .heartbeat)
        try await app.heartbeat()
        #expect(beats.withLock { $0 } == 1)
    }

    @Test
    func `without a heartbeat the license is renewed ahead of its lease's end, and a year from now at the latest`()
        async throws
    {
        let leased = Harness { $0.leases = LeasePolicy(jitter: 0, assumedLease: .seconds(60)) }
        #expect(try await license(leased).heartbeat == 30)
        #expect(try await license(leased, every: 20).heartbeat == 20)
        #expect(try await license(leased, heartbeat: {}).heartbeat == 0)
        let short = Harness { $0.leases = LeasePolicy(jitter: 0, assumedLease: .seconds(1)) }
        #expect(try await license(short).heartbeat == 1)
        let long = Harness { $0.leases = LeasePolicy(jitter: 0, assumedLease: .seconds(1e12)) }
        #expect(try await license(long).heartbeat == 31_536_000)
    }

    @Test func `what the loader refuses, the callback throws`() async {
        let harness = Harness(post: [.status(403)])
        let error = await #expect(throws: ContentKeyError.self) { try await license(harness) }
        #expect(error?.kind == .forbidden)
    }
}
