import Foundation
import LatchkeyCore
@_spi(Adapters) import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One loader serves many titles, because credentials are asked for with the key and the title.
@Suite(.timeLimit(.minutes(2))) struct CredentialRequestTests {
    private static let playlist = FakeTransport.Step.ok(PreloadStream.media([PreloadStream.session]))

    @Test(arguments: [(KeyPurpose.streaming, Credentials.Reason.first), (.persistable, .offline), (.renewal, .renewal)])
    func `a license's credentials request names the key, the title and the purpose`(
        _ purpose: KeyPurpose, _ reason: Credentials.Reason
    ) async {
        let harness = Harness(VendorProfile.json.unchecked)
        _ = await harness.answer(FakeKeyRequest(key, purpose: purpose, asset: "movie-1"))
        let license = Credentials.Request(reason, stage: .license, purpose: purpose, key: key, asset: "movie-1")
        #expect(harness.credentials.requests == [.init(.certificate, stage: .certificate), license])
    }

    @Test(arguments: [(503, Credentials.Reason.retry(attempt: 2)), (403, .rejected)])
    func `another attempt still states its title and purpose`(
        _ status: Int, _ reason: Credentials.Reason
    ) async {
        let harness = Harness(post: [.status(status), .ckc])
        let request = FakeKeyRequest(key, purpose: .persistable, asset: "movie-1")
        harness.loader.answer(request)
        if status == 503 { await harness.advance([.milliseconds(500)]) }
        #expect(await request.firstAnswer().ckc != nil)
        let again = harness.credentials.requests.last
        #expect(again == .init(reason, purpose: .persistable, key: key, asset: "movie-1"))
    }

    @Test func `two parallel titles get a token each, one certificate`() async {
        let tokens = Locked<[AssetID: [KeyURI]]>([:])
        let harness = Harness(
            VendorProfile.json.unchecked,
            credentials: Credentials { request in
                guard let asset = request.asset, let key = request.key else { return .token(token) }
                tokens.withLock { $0[asset, default: []].append(key) }
                return .token("\(token)-\(asset)")
            })
        let other: KeyURI = "skd://fairplay-license.vudrm.tech/license/def"
        async let one = harness.answer(FakeKeyRequest(key, asset: "one", player: "main"))
        async let two = harness.answer(FakeKeyRequest(other, asset: "two", player: "mini"))
        let answers = await [one, two]
        #expect(answers.allSatisfy { $0.ckc != nil })
        #expect(tokens.withLock { $0 } == ["one": [key], "two": [other]])
        #expect(harness.posts.count == 2 && harness.transport.requests.count == 3)
    }

    @Test func `a renewal without a title uses that of its key`() async {
        let harness = Harness()
        let events = harness.loader.events()
        _ = await harness.answer(FakeKeyRequest(key, asset: "movie-1"))
        _ = await harness.answer(FakeKeyRequest(key, purpose: .renewal))
        #expect(harness.credentials.requests.map(\.asset) == ["movie-1", "movie-1"])
        let answered = await events.untilAnswered(2).filter { if case .answered = $0.kind { true } else { false } }
        #expect(answered.map(\.asset) == ["movie-1", "movie-1"])
    }

    @Test func `credentials requested ahead serve only their own title`() async {
        let harness = Harness(over: PreloadStream.transport(["master.m3u8": Self.playlist])) {
            $0.preparedCredentialsLifetime = .seconds(20)
        }
        _ = await harness.loader.preload(PreloadStream.address, as: "one")
        _ = await harness.answer(FakeKeyRequest(PreloadStream.session, asset: "two", player: "mini"))
        _ = await harness.answer(FakeKeyRequest(PreloadStream.session, asset: "one"))
        #expect(harness.credentials.requests.map(\.asset) == ["one", "two"])
        let sent = harness.posts.map {
            $0.value(forHTTPHeaderField: "x-vudrm-token")?.split(separator: "-").last.map(String.init)
        }
        #expect(sent == ["2", "1"])
    }

    @Test func `a preload into a player passes it the title`() async {
        let harness = Harness(over: PreloadStream.transport(["master.m3u8": Self.playlist]))
        let player = EarlyPlayer(harness.loader)
        _ = await harness.loader.preload(PreloadStream.address, into: player, as: "one")
        #expect(player.requests.map(\.asset) == ["one"])
        #expect(harness.credentials.requests.map(\.asset) == ["one"])
    }

    @Test func `a lookup for a key names the key, and one for the loader names none`() async {
        for (scope, asset, known) in [
            (LookupScope.key, "movie-1" as AssetID?, key as KeyURI?), (.loader, nil, nil),
        ] {
            let harness = Harness(LookingUp(lookupScope: scope))
            _ = await harness.answer(FakeKeyRequest(key, asset: "movie-1"))
            let lookup = harness.credentials.requests.first { $0.stage == .lookup }
            #expect(lookup?.asset == asset && lookup?.key == known && lookup?.reason == .first)
        }
    }

    @Test func `a session's credentials name the title that opened it, but no key`() async throws {
        let harness = SessionHarness()
        for asset in ["one", "two"] as [AssetID] {
            let request = FakeKeyRequest(SessionHarness.key, asset: asset)
            try harness.loader.answer(request)
            #expect(await request.firstAnswer().ckc != nil)
        }
        let session = harness.asked.withLock { $0 }.filter { $0.reason == .session }
        #expect(session == [.init(.session, stage: .setup, asset: "one")])
    }

    @Test func `a step-by-step exchange names its title`() async throws {
        let harness = Harness()
        _ = try await harness.loader.license(for: SPCMessage(SampleBytes.spc), key: key, asset: "movie-1")
        _ = try await harness.loader.licenseRequest(for: SPCMessage(SampleBytes.spc), key: key, asset: "movie-2")
        #expect(harness.credentials.requests.map(\.asset) == ["movie-1", "movie-2"])
        #expect(harness.credentials.requests.map(\.key) == [key, key])
    }
}

/// The title in a failure, in an event and in the statistics.
@Suite(.timeLimit(.minutes(2))) struct AssetReportTests {
    @Test func `each event of a key request names its title, in JSON and in a log`() async throws {
        let harness = Harness()
        let events = harness.loader.events()
        _ = await harness.answer(FakeKeyRequest(key, asset: "movie-1"))
        let all = await events.untilAnswered()
        #expect(all.count > 4 && all.allSatisfy { $0.exchange == 0 || $0.asset == "movie-1" })
        let answered = try #require(all.last)
        #expect("\(answered)".hasPrefix("#1 movie-1 skd://fairplay-license.vudrm.tech/license/abc: answered"))
        let json = try JSONEncoder().encode(answered)
        #expect(String(decoding: json, as: UTF8.self).contains(#""asset":"movie-1""#))
        #expect(try JSONDecoder().decode(KeyEvent.self, from: json).asset == "movie-1")
    }

    @Test func `an event without a title lacks that member`() throws {
        let event = KeyEvent(exchange: 1, key: "skd://a", date: Date(timeIntervalSince1970: 0), kind: .released)
        let json = String(decoding: try JSONEncoder().encode(event), as: UTF8.self)
        #expect(!json.contains("asset") && "\(event)" == "#1 skd://a: released")
    }

    @Test func `events are counted for each title and each key`() async {
        let harness = Harness(post: [.ckc, .status(404)])
        let other: KeyURI = "skd://fairplay-license.vudrm.tech/license/def"
        _ = await harness.answer(FakeKeyRequest(key, asset: "one"))
        _ = await harness.answer(FakeKeyRequest(other, asset: "two"))
        let (one, two) = (harness.loader.statistics(of: "one" as AssetID), harness.loader.statistics(of: other))
        #expect(one.requested == 1 && one.answered == 1 && one.failed == 0)
        #expect(two.requested == 1 && two.failures == ["notFound": 1])
        #expect(harness.loader.statistics(of: "three" as AssetID).requested == 0)
        #expect(harness.loader.statistics.requested == 2)
    }

    @Test func `a player's keys end with a failure that names the title`() async {
        var profile = VendorProfile.raw
        profile.terms = TermsRule(lease: .setting("lease"))
        let harness = Harness(profile.setting("lease", to: "60").unchecked)
        let (failures, continuation) = AsyncStream<KeyFailure>.makeStream()
        let keys = PlayerKeys(harness.loader) { continuation.yield($0) }
        await withCheckedContinuation { done in
            keys.license(for: SampleBytes.spc, key: key, asset: "movie-1") { _ in done.resume() }
        }
        // The app was in the background when the lease ended: a last renewal is requested, which never comes.
        let events = harness.loader.events()
        harness.clock.advance(by: .seconds(61))
        for await event in events { if case .renewalDue = event.kind { break } }
        harness.clock.advance(by: .seconds(60))
        let failure = await failures.first { _ in true }
        #expect(failure?.asset == "movie-1" && failure?.key == key && failure?.loaderError?.kind == .leaseEnded)
        keys.release()
    }
}

/// Asks for credentials for its lookup.
private struct LookingUp: VendorIntegration {
    let identifier = "looking-up"
    let lookupScope: LookupScope
    let configuredURLs = [URL(string: "https://fairplay-license.vudrm.tech")].compactMap { $0 }

    private func request(_ path: String, _ method: String = "GET") throws -> URLRequest {
        guard let url = URL(string: "https://fairplay-license.vudrm.tech/\(path)") else { throw CancellationError() }
        var request = URLRequest(url: url)
        request.httpMethod = method
        return request
    }

    func lookupRequest(_ context: LookupContext) async throws -> URLRequest? {
        _ = try await context.credentials()
        return try request("entitlement")
    }

    func lookup(from exchange: HTTPExchange, _ context: LookupContext) throws -> [String: Secret] { [:] }

    func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? { try request("certificate") }

    func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
        var request = try request("license", "POST")
        request.httpBody = spc.bytes.revealed
        return request
    }
}
