import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct TokenAdviceTests {
    private static let past = Date(timeIntervalSince1970: 1_700_000_000)

    /// `{"alg":"HS256"}.{"exp":1700000000,"kid":["00000000-0000-0000-0000-000000000001"]}`
    private static let token =
        "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3MDAwMDAwMDAsImtpZCI6WyIwMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDEiXX0.AAAA"

    @Test func `an expired token is told before the license is asked for, which it is all the same`() async throws {
        let transport = FakeTransport(get: [.certificate], post: [.ckc])
        let profile = VendorProfile.cloudDRM.with([
            "certificateURL": "https://t.example/certificate", "brandGuid": "1",
            "licenseURL": "https://t.example/license",
        ])
        let loader = ContentKeyLoader(
            profile.unchecked, credentials: .token { _ in Self.token }, transport: transport,
            timekeeper: ManualTimekeeper())
        let request = FakeKeyRequest("skd://t.example/?KID=00000000-0000-0000-0000-000000000002")
        loader.answer(request)
        #expect(try await request.firstAnswer().get().isEmpty == false)
        var advice: [TokenInspection.Advice] = []
        for await event in loader.events() {
            if case .tokenAdvice(let given) = event.kind { advice = given }
            if case .answered = event.kind { break }
        }
        #expect(advice == [.expired(Self.past), .keyNotCovered])
        #expect(transport.requests.count == 2)
    }

    /// `{"alg":"HS256"}.{"nbf":1900000000}`
    private static let early = "eyJhbGciOiJIUzI1NiJ9.eyJuYmYiOjE5MDAwMDAwMDB9.AAAA"

    @Test func `a token that is refused because it came too early is told from one that may not`() async throws {
        let transport = FakeTransport(get: [.certificate], post: [.status(403)])
        let profile = VendorProfile.cloudDRM.with([
            "certificateURL": "https://t.example/certificate", "brandGuid": "1",
            "licenseURL": "https://t.example/license",
        ])
        let loader = ContentKeyLoader(
            profile.unchecked, credentials: .token { _ in Self.early }, transport: transport,
            timekeeper: ManualTimekeeper())
        let request = FakeKeyRequest("skd://t.example/?KID=00000000-0000-0000-0000-000000000002")
        loader.answer(request)
        let error = await request.firstAnswer().error
        #expect(error?.kind == .notYetValid && error?.service?.status == 403)
        #expect(error?.reason.contains("valid from 2030-03-17T17:46:40Z only") == true)
        // The app may have a better one.
        #expect(error?.attempts == 2)
    }
}
