import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyOpenTV

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An app's callbacks of `customer-ssm` with licenses from a loader.
@Suite(.timeLimit(.minutes(5))) struct LoaderCustomerSessionTests {
    private let reasons = Locked<[Credentials.Reason]>([])
    private let posts = Locked<[Data?]>([])

    private func license(
        _ type: CustomerLicenseType = .request, leases: LeasePolicy = LeasePolicy(jitter: 0), status: Int = 200,
        every period: Int = 0, heartbeat: (@Sendable () async throws -> Void)? = nil
    ) async throws -> CustomerLicense {
        let transport = FakeTransport { [posts] request, _ in
            guard request.httpMethod == "POST" else { return .ok(SampleBytes.certificate) }
            posts.withLock { $0.append(request.httpBody) }
            return status == 200 ? .ok(SampleBytes.ckc()) : .status(status)
        }
        let loader = ContentKeyLoader(
            .vuDRMRaw(
                certificate: URL(filePath: "/c").https("/certificate"), license: URL(filePath: "/c").https("/license")),
            credentials: .token { [reasons] request in
                reasons.withLock { $0.append(request.reason) }
                return "token"
            },
            configuration: LoaderConfiguration(leases: leases, certificateFetch: .withFirstKey), transport: transport,
            timekeeper: ManualTimekeeper())
        let app = LoaderCustomerSession(loader, key: "skd://vendor.test/movie-1", every: period, heartbeat: heartbeat)
        let license = try await app.license(keySystem: "", payload: SampleBytes.spc, type: type)
        try await app.heartbeat()
        return license
    }

    @Test func `the license comes from the loader, with its SPC and credentials`() async throws {
        let license = try await license()
        #expect(license.ckc == SampleBytes.ckc() && license.heartbeat == 0 && license.renewType == .enforced)
        #expect(posts.withLock { $0 } == [SampleBytes.spc] && reasons.withLock { $0 } == [.first])
    }

    @Test func `a renewal asks for credentials to renew`() async throws {
        _ = try await license(.renewal)
        #expect(reasons.withLock { $0 } == [.renewal])
    }

    @Test func `heartbeats keep the session alive as often as the app says`() async throws {
        let beats = Locked(0)
        let license = try await license(every: 30) { beats.withLock { $0 += 1 } }
        #expect(license.heartbeat == 30 && license.renewType == .heartbeat && beats.withLock { $0 } == 1)
    }

    @Test(arguments: [(60, 0, 30), (60, 20, 20), (1, 0, 1), (1_000_000_000_000, 0, 31_536_000)])
    func `without heartbeats the license is renewed before its lease ends, within a year at most`(
        _ lease: Int, _ period: Int, _ expected: Int
    ) async throws {
        let leases = LeasePolicy(jitter: 0, assumedLease: .seconds(lease))
        #expect(try await license(leases: leases, every: period).heartbeat == expected)
        if period == 0 { #expect(try await license(leases: leases, heartbeat: {}).heartbeat == 0) }
    }

    @Test func `the callback throws the loader's refusal`() async {
        let error = await #expect(throws: ContentKeyError.self) { try await license(status: 403) }
        #expect(error?.kind == .forbidden)
    }
}

extension URL {
    fileprivate func https(_ path: String) -> URL { URL(string: "https://vendor.test\(path)") ?? self }
}
