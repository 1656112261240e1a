import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct CompletionKeyLoaderTests {
    private let queue = DispatchQueue(label: "app.completions")
    private let time = ManualTimekeeper()

    /// The completions of a call, in order of arrival.
    private final class Calls: Sendable {
        private let ended = Locked<[(Data?, NSError?)]>([])
        private let (stream, continuation) = AsyncStream<Void>.makeStream()

        var completion: CompletionKeyLoader.Completion {
            { [self] bytes, error in
                ended.withLock { $0.append((bytes, error)) }
                continuation.yield()
            }
        }

        /// The first completion, and their number once all work on the queue is done.
        func only(on queue: DispatchQueue) async -> (bytes: Data?, error: NSError?, count: Int) {
            var iterator = stream.makeAsyncIterator()
            await iterator.next()
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
            let all = ended.withLock { $0 }
            return (all.first?.0, all.first?.1, all.count)
        }
    }

    private func loader(
        _ transport: FakeTransport, asking: @escaping @Sendable (Credentials.Request) -> Void = { _ in }
    ) throws -> CompletionKeyLoader {
        CompletionKeyLoader(
            ContentKeyLoader(
                try VendorProfile.vuDRM.configured(["certificateURL": "https://vendor.test/certificate"]),
                credentials: Credentials { request in
                    asking(request)
                    return CredentialSet(["token": Secret("a token")])
                },
                configuration: LoaderConfiguration(
                    retry: RetryPolicy(maximumAttempts: 1), hosts: HostPolicy(allowed: ["vendor.test"]),
                    certificateFetch: .withFirstKey),
                transport: transport, timekeeper: time), queue: queue)
    }

    private var serving: FakeTransport {
        FakeTransport(get: [.ok(SampleBytes.certificate)], post: [.ok(SampleBytes.ckc())])
    }

    private let key = "skd://vendor.test/license/movie-1"

    @Test func `the certificate comes once`() async throws {
        let calls = Calls()
        let loader = try loader(serving)
        loader.certificate(completion: calls.completion)
        let result = await calls.only(on: queue)
        #expect(result.bytes == SampleBytes.certificate && result.error == nil && result.count == 1)
    }

    @Test func `an SPC gets its CKC once`() async throws {
        let calls = Calls()
        let loader = try loader(serving)
        loader.license(forSPC: SampleBytes.spc, keyURI: key, completion: calls.completion)
        let result = await calls.only(on: queue)
        #expect(result.bytes == SampleBytes.ckc() && result.count == 1)
    }

    @Test func `each call asks for credentials for the title that it names`() async throws {
        let asked = Locked<[AssetID?]>([])
        let loader = try loader(serving) { request in
            if request.stage == .license { asked.withLock { $0.append(request.asset) } }
        }
        let calls = [Calls(), Calls(), Calls()]
        loader.license(forSPC: SampleBytes.spc, keyURI: key, asset: "one", completion: calls[0].completion)
        _ = await calls[0].only(on: queue)
        let maker: CompletionKeyLoader.SPCMaker = { _, _, reply in reply(SampleBytes.spc, nil) }
        loader.answer(keyURI: key, asset: "two", makeSPC: maker, completion: calls[1].completion)
        _ = await calls[1].only(on: queue)
        loader.renew(keyURI: key, asset: "three", makeSPC: maker, completion: calls[2].completion)
        _ = await calls[2].only(on: queue)
        #expect(asked.withLock { $0 } == ["one", "two", "three"])
    }

    @Test func `an exchange asks for one SPC, and answers once even if two arrive`() async throws {
        let calls = Calls()
        let loader = try loader(serving)
        let call = loader.answer(keyURI: key) { certificate, identifier, reply in
            #expect(certificate == SampleBytes.certificate && !identifier.isEmpty)
            for _ in 0..<2 { reply(SampleBytes.spc, nil) }
        } completion: {
            calls.completion($0, $1)
        }
        let result = await calls.only(on: queue)
        #expect(result.bytes == SampleBytes.ckc() && result.count == 1)
        call.release()
    }

    @Test func `a missing SPC is an error of the domain`() async throws {
        let calls = Calls()
        let loader = try loader(serving)
        loader.answer(keyURI: key, makeSPC: { $2(nil, nil) }, completion: calls.completion)
        let result = await calls.only(on: queue)
        #expect(result.error?.domain == ContentKeyError.errorDomain && result.error?.code == 106)
        #expect(result.bytes == nil && result.count == 1)
    }

    @Test func `a refusal is a numbered error`() async throws {
        let calls = Calls()
        let loader = try loader(FakeTransport(get: [.ok(SampleBytes.certificate)], post: [.status(403)]))
        loader.renew(keyURI: key, makeSPC: { $2(SampleBytes.spc, nil) }, completion: calls.completion)
        let result = await calls.only(on: queue)
        #expect(result.error?.code == 210 && result.count == 1)
    }

    @Test func `a cancelled call completes once, with cancelled`() async throws {
        let (certificate, license, answer) = (Calls(), Calls(), Calls())
        let loader = try loader(FakeTransport(get: [.hang], post: [.hang]))
        let calls = [
            loader.certificate(completion: certificate.completion),
            loader.license(forSPC: SampleBytes.spc, keyURI: key, completion: license.completion),
            loader.answer(keyURI: key, makeSPC: { $2(SampleBytes.spc, nil) }, completion: answer.completion),
        ]
        for call in calls { call.cancel() }
        for calls in [certificate, license, answer] {
            let result = await calls.only(on: queue)
            #expect(result.error?.code == 104 && result.count == 1)
        }
    }
}
