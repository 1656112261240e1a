@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeyVendorWire
import LatchkeyVendors
import Testing

@Suite(.serialized, .timeLimit(.minutes(8))) struct RefusalTests {
    @Test(arguments: RefusalCase.told)
    func `each vendor code is a separate kind of error that shows no secret`(_ refusal: RefusalCase)
        async throws
    {
        let run = try await FaultRun(refusal.circumstances)
        try run.expect(refusal.expected, at: refusal.circumstances.endpoint)
    }

    @Test(arguments: RefusalCase.own)
    func `a service's own refusal is the error that the vendor documents`(_ refusal: RefusalCase) async throws {
        let run = try await FaultRun(refusal.circumstances)
        try run.expect(refusal.expected, at: refusal.circumstances.endpoint)
    }

    static let verimatrixDelays: [(seconds: Int, requests: Int, time: Duration)] = [
        (1, 3, .seconds(2)), (5, 3, .seconds(10)), (9, 1, .zero),
    ]

    @Test(arguments: verimatrixDelays)
    func `Verimatrix is retried when it says, or not at all if that is too late`(
        _ seconds: Int, _ requests: Int, _ time: Duration
    ) async throws {
        let special = SpecialService(VerimatrixService.init) { $0.api.retryAfter = seconds...seconds }
        let run = try await FaultRun(
            Circumstances(profile: "verimatrix", special: special, fault: .refusal(code: "MDRM-1015", status: 503)))
        try run.expect(
            ExpectedError(
                "serverTransient", .license, status: 503, vendorCode: "MDRM-1015", words: "set to", requests: requests,
                time: time), at: .license)
        #expect((run.error as? ContentKeyError)?.service?.retryAfter == Double(seconds))
    }

    static let passing = RefusalCase.told.filter { $0.expected.isRetryable || $0.expected.requests == 2 }

    @Test(arguments: passing)
    func `a refusal that passes, or that a new token cures, ends in a key`(_ refusal: RefusalCase) async throws {
        var circumstances = refusal.circumstances
        circumstances.span = .first(1)
        let run = try await FaultRun(circumstances)
        #expect(run.error == nil)
        #expect(run.answers == 1)
        #expect(run.requests[circumstances.endpoint] == 2)
        #expect(run.leaks.isEmpty)
    }

    static let singleUse: [(profile: String, service: SpecialService?, code: String, vendorCode: String?)] = [
        ("vudrm-raw", nil, "forbidden", nil), ("vudrm", nil, "forbidden", nil),
        ("drmtoday", nil, "unauthenticated", "3000"),
    ]

    @Test(arguments: singleUse)
    func `a used token opens nothing, and a fresh one works`(
        _ profile: String, _ service: SpecialService?, _ code: String, _ vendorCode: String?
    ) async throws {
        let profile = try #require(VendorProfile.named(profile))
        try await LiveServices.with(special: service, lenient: []) { live in
            let token = live.service(for: profile).issueToken()
            let used = Credentials { _ in CredentialSet(["token": token]) }
            let usedOnce = Credentials { request in
                CredentialSet(["token": request.reason == .rejected ? live.service(for: profile).issueToken() : token])
            }
            let first = try await key(live, profile, used)
            #expect(first == nil)

            let again = try #require(try await key(live, profile, used) as? ContentKeyError)
            #expect(again.code == code && again.service?.status == 403 && again.service?.code == vendorCode)
            #expect(again.service?.requestID != nil && !again.remedy.isEmpty)
            #expect(again.attempts == 2)

            let fresh = try await key(live, profile, usedOnce)
            #expect(fresh == nil)
        }
    }

    /// The error of a loader with these credentials; `nil` if it gets a key.
    private func key(
        _ live: LiveServices, _ profile: VendorProfile, _ credentials: Credentials
    ) async throws -> (any Error)? {
        let loader = ContentKeyLoader(
            live.configured(profile).unchecked, credentials: credentials, configuration: .loopback)
        let request = try live.request(for: profile)
        loader.answer(request)
        guard case .failure(let error) = await request.outcome else { return nil }
        return error
    }
}
