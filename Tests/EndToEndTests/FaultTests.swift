import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeyVendors
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct FaultTests {
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
        #expect((error.service?.requestID).flatMap(UUID.init(uuidString:)) != nil || expected.status == nil)
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
}
