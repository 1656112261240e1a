import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeyVendors
import Testing

@Suite(.serialized, .timeLimit(.minutes(8))) struct FaultTests {
    @Test(arguments: FaultPlace.all, FaultCase.all)
    func `a fault gives one typed error in the policy's time and requests, and shows no secret`(
        _ place: FaultPlace, _ fault: FaultCase
    ) async throws {
        let run = try await FaultRun(place.with(fault.fault))
        let expected = fault.expected(at: place)
        try run.expect(expected, at: place.endpoint)
        #expect(run.elapsed <= FaultCase.policy.deadline)
    }

    @Test(arguments: FaultPlace.all, [Fault.status(503), .unavailable(retryAfter: .seconds(2))])
    func `a fault that ends after two costs two requests`(_ place: FaultPlace, _ fault: Fault) async throws {
        try await passes(place, fault, after: 2)
    }

    @Test(
        arguments: FaultPlace.all.filter { [.certificate, .license].contains($0.endpoint) },
        [Fault.emptyBody, .truncatedPayload])
    func `a reply that broke once is requested again`(_ place: FaultPlace, _ fault: Fault) async throws {
        try await passes(place, fault, after: 1)
    }

    @Test(
        arguments: FaultPlace.all.filter { $0.profile.hasPrefix("vudrm") },
        [Fault.connectionReset, .htmlPage, .delay(.seconds(60))])
    func `so is one that never arrived`(_ place: FaultPlace, _ fault: Fault) async throws {
        try await passes(place, fault, after: 2)
    }

    private func passes(_ place: FaultPlace, _ fault: Fault, after count: Int) async throws {
        let run = try await FaultRun(place.with(fault, for: .first(count)))
        #expect(run.error == nil)
        #expect(run.answers == 1)
        #expect(run.requests[place.endpoint] == count + 1)
    }

    @Test(arguments: FaultPlace.all.filter { FaultPlace.carriesToken($0.profile, $0.endpoint) })
    func `a token refused once is requested anew`(_ place: FaultPlace) async throws {
        let run = try await FaultRun(place.with(.status(401), for: .first(1)))
        #expect(run.error == nil)
        #expect(run.requests[place.endpoint] == 2)
        #expect(run.elapsed == .zero)
    }

    @Test(arguments: FaultPlace.all)
    func `at the deadline the key is answered, whatever the service does`(_ place: FaultPlace) async throws {
        let policy = RetryPolicy(attemptTimeout: .seconds(40), deadline: .seconds(25))
        var circumstances = place.with(.delay(.seconds(60)))
        (circumstances.policy, circumstances.timer) = (policy, policy.deadline)
        let run = try await FaultRun(circumstances)
        #expect((run.error as? ContentKeyError)?.code == "deadlineExceeded")
        #expect(run.answers == 1)
        #expect(run.elapsed == policy.deadline)
        #expect(run.requests[place.endpoint] == 1)
    }

    // If a kept connection is reset during a POST, Foundation on Linux reports nothing until the request times out.
    @Test func `a reset of a kept connection fails immediately`() async throws {
        let place = try #require(FaultPlace.all.first { $0.profile == "vudrm" && $0.endpoint == .license })
        let run = try await FaultRun(place.with(.connectionReset, for: .first(1)))
        #expect(run.error == nil)
        #expect(run.requests[.license] == 2)
        // An attempt that nothing had ended would time out.
        let codes = run.events.compactMap { event -> String? in
            guard case .retrying(_, _, let code) = event.kind else { return nil }
            return "\(code)"
        }
        #expect(codes == ["connectionLost"])
    }
}
