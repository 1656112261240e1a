import Foundation
import Latchkey
import LatchkeyTesting
import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The code of the article "Test your app", compiled and run, and two tests more that an app has.
@Suite(.timeLimit(.minutes(5))) struct TestYourAppTests {
    let key: KeyURI =
        "skd://movies.la.drm.cloud/acquire-license/fairplay?BrandGuid=b&KID=11111111-2222-3333-4444-555555555555"

    /// The app's own loader, over the test's parts.
    func loader(
        _ transport: FakeTransport, at time: any Timekeeper = ManualTimekeeper(), store: MemoryKeyStore? = nil
    ) throws -> ContentKeyLoader {
        var configuration = LoaderConfiguration()
        configuration.leases.assumedLease = .seconds(600)
        configuration.keyStore = store
        let certificate = try #require(URL(string: "https://movies.la.drm.cloud/certificate/fairplay?brandGuid=b"))
        return ContentKeyLoader(
            .cloudDRM(certificate: certificate, brand: "b"),
            credentials: .token { "token of \($0.asset?.description ?? "no title")" },
            configuration: configuration, transport: transport, timekeeper: time)
    }

    /// The player's answer for the key.
    func answer(_ loader: ContentKeyLoader, _ title: AssetID? = nil) async -> FakeKeyRequest.Answer {
        let request = FakeKeyRequest(key, asset: title)
        loader.answer(request)
        return await request.firstAnswer()
    }

    @Test func `an expired sign-in leads to the sign-in page`() async throws {
        // The certificate comes, and the license service refuses.
        let transport = FakeTransport(get: [.ok(SampleBytes.certificate)], post: [.status(401)])
        let answer = try await answer(loader(transport))
        let error = #expect(throws: ContentKeyError.self) { try answer.get() }
        #expect(error?.kind == .unauthenticated && error?.viewerMessage == .signIn)
    }

    @Test func `a refusal has the service's own code and request`() async throws {
        let refusal = HTTPReply(
            status: 403, headers: [("Content-Type", "application/json")],
            body: Data(#"{"code":"drm_3034","status":403,"message":"ip","requestId":"r-1"}"#.utf8))
        let transport = FakeTransport(get: [.ok(SampleBytes.certificate)], post: [.reply(refusal)])
        let answer = try await answer(loader(transport))
        let error = #expect(throws: ContentKeyError.self) { try answer.get() }
        #expect(error?.kind == .forbidden && error?.service?.code == "drm_3034")
        #expect(error?.service?.requestID == "r-1")
    }

    @Test func `each title has its token, and a stored one needs no network`() async throws {
        let transport = FakeTransport(get: [.ok(SampleBytes.certificate)], post: [.ok(SampleBytes.ckc())])
        let loader = try loader(transport, store: MemoryKeyStore())
        try await loader.offline?.register("movie-2", keys: [key])
        _ = try await answer(loader, "movie-1").get()
        for _ in 0..<2 {
            let request = FakePersistableRequest(key, asset: "movie-2")
            loader.answer(request)
            _ = try await request.firstAnswer().get()
        }
        let tokens = transport.requests.compactMap { $0.value(forHTTPHeaderField: "x-drm-usertoken") }
        #expect(tokens == ["token of movie-1", "token of movie-2"])
        #expect(try await loader.offline?.asset("movie-2")?.isReady == true)
    }

    @Test func `a busy service is asked again, and the film plays`() async throws {
        let transport = FakeTransport(
            get: [.ok(SampleBytes.certificate)], post: [.status(503), .ok(SampleBytes.ckc())])
        let time = VirtualTime()
        try await time.run {
            let loader = try loader(transport, at: time)
            // The wait before the second attempt passes here.
            let ckc = try await answer(loader).get()
            #expect(ckc == SampleBytes.ckc())
            #expect(transport.requests.count == 3 && loader.statistics.retries == 1)
        }
    }

    @Test func `a key is renewed before its lease ends`() async throws {
        let transport = FakeTransport(get: [.ok(SampleBytes.certificate)], post: [.ok(SampleBytes.ckc())])
        let time = VirtualTime()
        try await time.run {
            let loader = try loader(transport, at: time)
            let request = FakeKeyRequest(
                key,
                renewing: { request in
                    loader.answer(FakeKeyRequest(request.keyURI, purpose: .renewal))
                    return true
                })
            loader.answer(request)
            try await time.sleep(for: .seconds(460))
            #expect(request.renewals == 1)
            #expect(loader.statistics.licenses == 2 && loader.statistics.renewals == 1)
        }
    }
}
