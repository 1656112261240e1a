import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The steps one by one, for players that make the SPC or do the I/O themselves.
@Suite(.timeLimit(.minutes(5))) struct StepsTests {
    static let spc = SPCMessage(SampleBytes.spc)

    @Test func `requests and replies work without I/O`() async throws {
        let harness = Harness(VendorProfile.json.unchecked)
        let loader = harness.loader
        let certificateRequest = try #require(try await loader.certificateRequest())
        #expect(certificateRequest.value(forHTTPHeaderField: "x-vudrm-token") == "\(token)-1")
        #expect(certificateRequest.timeoutInterval == 10)
        let certificate = try loader.applicationCertificate(from: exchange(certificateRequest, SampleBytes.certificate))
        #expect(certificate.bytes == SampleBytes.certificate)
        #expect(try loader.contentIdentifier(for: key).text == key.raw)
        let request = try await loader.licenseRequest(for: Self.spc, key: key, purpose: .renewal)
        #expect(request.url?.absoluteString == "https://fairplay-license.vudrm.tech/license/abc")
        let license = try loader.license(from: exchange(request, SampleBytes.ckc()), key: key)
        #expect(license.ckc.revealed == SampleBytes.ckc())
        #expect(harness.credentials.reasons == [.certificate, .renewal] && harness.transport.requests.isEmpty)
    }

    private func exchange(_ request: URLRequest, _ body: Data, status: Int = 200) -> HTTPExchange {
        HTTPExchange(request: request, reply: HTTPReply(status: status, body: body))
    }

    @Test func `an SPC is exchanged for a license, with retries`() async throws {
        let harness = Harness(post: [.status(503), .ckc])
        async let license = harness.loader.license(for: Self.spc, key: key)
        await harness.advance([.milliseconds(500)])
        #expect(try await license.ckc.revealed == SampleBytes.ckc())
        #expect(harness.posts.count == 2 && harness.transport.requests.count == 2)
    }

    @Test func `each step's error names its stage`() async throws {
        let loader = Harness(credentials: Credentials.none).loader
        let request = URLRequest(url: URL(filePath: "/"))
        let page = exchange(request, Data("<html>".utf8))
        let errors: [(ContentKeyError?, String, ContentKeyError.Stage)] = [
            (
                #expect(throws: ContentKeyError.self) { try loader.contentIdentifier(for: "skd://h/") },
                "contentIdentifierMissing", .contentIdentifier
            ),
            (
                #expect(throws: ContentKeyError.self) { try loader.applicationCertificate(from: page) },
                "certificateMalformed", .certificate
            ),
            (
                #expect(throws: ContentKeyError.self) { try loader.license(from: page, key: key) }, "licenseMalformed",
                .license
            ),
            (
                await #expect(throws: ContentKeyError.self) {
                    try await loader.licenseRequest(for: Self.spc, key: key)
                },
                "missingCredential", .license
            ),
            (
                await #expect(throws: ContentKeyError.self) {
                    try await loader.licenseRequest(for: SPCMessage(Data()), key: key)
                }, "spcFailed", .spc
            ),
            (
                await #expect(throws: ContentKeyError.self) {
                    try await loader.licenseRequest(for: Self.spc, key: "skd://evil.example/abc")
                }, "missingCredential", .license
            ),
        ]
        for (error, code, stage) in errors { #expect(error?.code == code && error?.stage == stage) }
    }

    @Test func `the host policy also covers a player's own requests`() async {
        let loader = Harness().loader
        let error = await #expect(throws: ContentKeyError.self) {
            try await loader.licenseRequest(for: Self.spc, key: "skd://evil.example/abc")
        }
        #expect(error?.code == "hostRefused" && error?.stage == .license)
    }
}

@Suite(.timeLimit(.minutes(5))) struct KeyEventTests {
    private func name(_ event: KeyEvent) -> String {
        switch event.kind {
        case .requested(let purpose): "requested \(purpose)"
        case .stageEnded(let stage, let took): "\(stage) \(Int(took.inMilliseconds))"
        case .certificateFromCache(let saved): "cached \(Int(saved.inMilliseconds))"
        case .prepared(let part, let saved): "prepared \(part) \(Int(saved.inMilliseconds))"
        case .preloaded(let parts): "preloaded \(parts)"
        case .exchanged(let http): "\(http.method) \(http.status ?? 0) \(Int(http.milliseconds))"
        case .unanswered(let http, let code): "\(http.method) \(code)"
        case .redirected(let url, _): "to \(url)"
        case .retrying(let attempt, let wait, let code): "retry \(attempt) \(Int(wait.inMilliseconds)) \(code)"
        case .answered(let took): "answered \(Int(took.inMilliseconds))"
        case .session(let state): "session \(state)"
        case .sessionFailed(let error): "session failed \(error.code)"
        case .failed(let error, let took): "failed \(error.code) \(Int(took.inMilliseconds))"
        case .tokenAdvice: "advice"
        default: "another"
        }
    }

    @Test func `tell each stage with its time`() async throws {
        let clock = Locked<ManualTimekeeper?>(nil)
        let harness = Harness(
            over: FakeTransport { request, number in
                _ = clock.withLock { $0?.advance(by: .milliseconds(40)) }
                return number == 2 ? .status(500) : request.httpMethod == "POST" ? .ckc : .certificate
            })
        clock.withLock { $0 = harness.clock }
        _ = try await harness.loader.applicationCertificate()
        let (events, watch) = (harness.loader.events(), harness.loader.events())
        let request = FakeKeyRequest("skd://fairplay-license.vudrm.tech/license/abc?sig=123456") {
            harness.clock.advance(by: .milliseconds(7))
            return SampleBytes.spc
        }
        harness.loader.answer(request)
        _ = await watch.first { if case .retrying = $0.kind { true } else { false } }
        await harness.advance([.milliseconds(500)])
        // The first listener also gets the certificate's fetch, which came before it.
        let all = await events.untilAnswered().filter { $0.exchange == 1 }
        let certificate = ["cached 40", "certificate 0", "contentIdentifier 0"]
        #expect(
            all.map(name).filter { !certificate.contains($0) } == [
                "requested streaming", "spc 7", "advice", "POST 500 40", "retry 1 500 serverTransient", "advice",
                "POST 200 40", "license 580", "answered 587",
            ])
        #expect(Set(all.map(name)).isSuperset(of: certificate))
        #expect(
            all.allSatisfy {
                $0.exchange == 1
                    && $0.key?.raw == "skd://fairplay-license.vudrm.tech/license/abc?sig=‹6:\(Secret("123456").digest)›"
            })
        #expect(all.last?.date == harness.clock.date)
    }

    @Test func `reach each listener, and end with the loader`() async {
        var streams: [AsyncStream<KeyEvent>] = []
        do {
            let harness = Harness()
            streams = [harness.loader.events(), harness.loader.events()]
            _ = await harness.answer()
        }
        for stream in streams {
            var count = 0
            for await _ in stream { count += 1 }
            #expect(count == 9)
        }
    }

    @Test func `number the keys, and use 0 for no key`() async {
        let harness = Harness(get: [.status(404), .certificate])
        let events = harness.loader.events()
        _ = try? await harness.loader.applicationCertificate()
        _ = await harness.answer()
        _ = await harness.answer()
        let numbers = await events.untilAnswered(2).map(\.exchange)
        #expect(Set(numbers) == [0, 1, 2] && numbers.first == 0 && numbers.last == 2)
    }
}
