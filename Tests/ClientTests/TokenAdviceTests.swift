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

    /// `{"alg":"HS256"}.{"kid":["00000000-0000-0000-0000-000000000001"]}`
    private static let uncovered =
        "eyJhbGciOiJIUzI1NiJ9.eyJraWQiOlsiMDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAxIl19.AAAA"

    private static func loader(_ token: String, _ transport: FakeTransport) -> ContentKeyLoader {
        let profile = VendorProfile.cloudDRM.with([
            "certificateURL": "https://t.example/certificate", "brandGuid": "1",
            "licenseURL": "https://t.example/license",
        ])
        return ContentKeyLoader(
            profile.unchecked, credentials: .token { _ in token }, transport: transport, timekeeper: ManualTimekeeper())
    }

    @Test func `an expired token is reported before the license request, which is still made`() async throws {
        let transport = FakeTransport(get: [.certificate], post: [.ckc])
        let loader = Self.loader(Self.token, transport)
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

    @Test func `a token refused as too early differs from one without rights`() async throws {
        let transport = FakeTransport(get: [.certificate], post: [.status(403)])
        let loader = Self.loader(Self.early, transport)
        let request = FakeKeyRequest("skd://t.example/?KID=00000000-0000-0000-0000-000000000002")
        loader.answer(request)
        let error = await request.firstAnswer().error
        #expect(error?.kind == .notYetValid && error?.service?.status == 403)
        #expect(error?.reason.contains("valid from 2030-03-17T17:46:40Z only") == true)
        // The app may have a better one.
        #expect(error?.attempts == 2)
    }

    /// `{"alg":"HS256"}.{"contentRights":[{"contentId":"demo-1","sessionControl":{"sessionControlEnabled":true}}]}`
    private static let ofSession =
        "eyJhbGciOiJIUzI1NiJ9.eyJjb250ZW50UmlnaHRzIjpbeyJjb250ZW50SWQiOiJkZW1vLTEiLCJzZXNzaW9uQ29udHJvbCI6eyJzZXNzaW9uQ29udHJvbEVuYWJsZWQiOnRydWV9fV19.AAAA"

    @Test(arguments: [("https://n.example/s", true), ("", false)])
    func `the cause is a session that no setting opens, not the token that NAGRA misses`(
        address: String, isOpened: Bool
    ) async {
        let profile = VendorProfile.nagra.with([
            "certificateURL": "https://n.example/c", "licenseURL": "https://n.example/l", "sessionURL": address,
        ])
        let opened = FakeTransport.Step.ok(Data(#"{"sessionToken":"S","heartbeat":30}"#.utf8))
        let refusal = HTTPReply(status: 403, body: Data(#"{"errorCode":4001,"message":"no token"}"#.utf8))
        let transport = FakeTransport(get: [.certificate], post: (isOpened ? [opened] : []) + [.reply(refusal)])
        let loader = ContentKeyLoader(
            profile.unchecked, credentials: .token { _ in Self.ofSession }, transport: transport,
            timekeeper: ManualTimekeeper())
        let request = FakeKeyRequest("skd://ZGVtby0x?x=1")
        loader.answer(request)
        let error = await request.firstAnswer().error
        #expect(error?.reason.hasPrefix(#"The credential "token" needs a session, and"#) == !isOpened)
        #expect(error?.reason.contains("code 4001") == true, "\(error?.reason ?? "")")
        #expect((error?.remedy == "Set sessionURL to the address of the vendor's session service.") == !isOpened)
    }

    @Test(arguments: [
        (
            token, "", #"The credential "token" expired at 2023-11-14T22:13:20Z. The service answered 403."#,
            "unauthenticated"
        ),
        ("Bearer \(token)", "", #"The credential "token" is malformed: the word Bearer precedes it"#, "forbidden"),
        ("undefined", "", #"The credential "token" is malformed: it is a placeholder of a program"#, "forbidden"),
        (uncovered, "", #"The credential "token" does not cover this key. The service answered 403."#, "forbidden"),
        (token, #"{"code":"drm_3033"}"#, "The service answered 403, code drm_3033", "forbidden"),
        (token, #"{"message":"no subscription"}"#, "The service answered 403, \"no subscription\".", "forbidden"),
    ])
    func `advice on a token leads if the service refuses it without a reason`(
        token: String, body: String, start: String, code: String
    ) async {
        let loader = Self.loader(
            token, FakeTransport(get: [.certificate], post: [.reply(HTTPReply(status: 403, body: Data(body.utf8)))]))
        let request = FakeKeyRequest("skd://t.example/?KID=00000000-0000-0000-0000-000000000002")
        loader.answer(request)
        let error = await request.firstAnswer().error
        #expect(error?.reason.hasPrefix(start) == true, "\(error?.reason ?? "")")
        #expect(error?.code == code)
        #expect(error?.reason.contains("eyJ") == false)
    }
}
