import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeyVendors
import Testing

@Suite(.serialized, .timeLimit(.minutes(3))) struct FaultTests {
    @Test(arguments: FaultPlace.all, FaultCase.all)
    func `a fault gives one typed error in the time and the requests that the policy states`(
        _ place: FaultPlace, _ expected: FaultCase
    ) async throws {
        let run = try await FaultRun(place, expected.fault)

        #expect(run.answers == 1)
        #expect(run.requests(at: place.endpoint) == expected.requests)
        #expect(run.elapsed == expected.time)
        #expect(run.elapsed <= FaultCase.policy.deadline)
        let code = place.endpoint == .certificate ? expected.certificateCode : expected.licenseCode
        guard let code else {
            #expect(run.error == nil)
            return
        }
        let error = try #require(run.error as? ContentKeyError)
        #expect(error.code == code)
        #expect(error.stage == (place.endpoint == .certificate ? .certificate : .license))
        #expect(error.service?.status == expected.status)
        // The services number their replies.
        let number = expected.status.map { _ in "\(run.certificateRequests + run.licenseRequests)" }
        #expect(error.service?.requestID?.split(separator: "-").last.map(String.init) == number)
        #expect(error.attempts == expected.requests)
        #expect(error.isRetryable == !["invalidRequest", "unauthenticated", "forbidden", "notFound"].contains(code))
        #expect(!error.reason.isEmpty && !error.remedy.isEmpty)
        if place.endpoint == .certificate { #expect(run.licenseRequests == 0) }
    }

    @Test(
        arguments: FaultPlace.all,
        [Fault.status(503), .connectionReset, .emptyBody, .htmlPage, .truncatedPayload, .delay(.seconds(60))])
    func `what passes after two requests costs two requests`(_ place: FaultPlace, _ fault: Fault) async throws {
        let run = try await FaultRun(place, fault, for: .first(2))
        #expect(run.error == nil)
        #expect(run.answers == 1)
        #expect(run.requests(at: place.endpoint) == 3)
    }

    @Test(arguments: FaultPlace.all)
    func `a token that is refused once is asked for anew`(_ place: FaultPlace) async throws {
        let run = try await FaultRun(place, .status(401), for: .first(1))
        #expect(run.error == nil)
        #expect(run.requests(at: place.endpoint) == 2)
        #expect(run.elapsed == .zero)
    }

    @Test(arguments: FaultPlace.all)
    func `at the deadline the key is answered, whatever the service does`(_ place: FaultPlace) async throws {
        let policy = RetryPolicy(attemptTimeout: .seconds(40), deadline: .seconds(25))
        let run = try await FaultRun(
            place, .delay(.seconds(60)), for: .always, policy: policy, expiring: policy.deadline)
        #expect((run.error as? ContentKeyError)?.code == "deadlineExceeded")
        #expect(run.answers == 1)
        #expect(run.elapsed == policy.deadline)
        #expect(run.requests(at: place.endpoint) == 1)
    }

    // Where a kept connection is reset under a POST, Foundation on Linux says nothing until the request's own time is over.
    @Test func `a reset of a kept connection is an error at once`() async throws {
        let place = FaultPlace(profile: "vudrm", endpoint: .license)
        let time = try await ContinuousClock().measure {
            let run = try await FaultRun(place, .connectionReset, for: .first(1))
            #expect(run.error == nil)
            #expect(run.licenseRequests == 2)
        }
        #expect(time < .seconds(6))
    }
}
