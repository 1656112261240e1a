import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct PreloadTests {
    private typealias Stream = PreloadStream

    private func harness(
        _ transport: FakeTransport = PreloadStream.transport(),
        configure: (inout LoaderConfiguration) -> Void = { _ in }
    ) -> Harness {
        Harness(over: transport, configure: configure)
    }

    // MARK: - Licenses

    @Test func `a preloading player has its licenses before play, session keys first`() async {
        let harness = harness()
        let player = EarlyPlayer(harness.loader)
        let result = await harness.loader.preload(Stream.address, into: player)
        #expect(result.end == .complete && result.unread.isEmpty)
        #expect(result.keys.map(\.uri) == [Stream.session, Stream.audio, Stream.video])
        #expect(result.words(.license) == ["prepared", "prepared", "prepared"])
        #expect(result.first == ["prepared", "notNeeded", "notNeeded", "notNeeded", "prepared"])
        #expect(player.requests.map(\.keyURI) == result.keys.map(\.uri))
        #expect(player.requests.allSatisfy { $0.answers.map(\.ckc) == [SampleBytes.ckc()] })
        // Three playlists, each once, the certificate, three licenses.
        #expect(result.requests == 7 && harness.transport.requests.count == 7)
    }

    @Test func `the session keys' licenses do not wait for media playlists`() async {
        let gate = Gate()
        let standard = Stream.transport()
        let transport = FakeTransport { request, number in
            if request.url?.lastPathComponent == "video.m3u8" { await gate.wait() }
            let reply = try? await standard.send(request, bodyLimit: 1 << 20)
            return reply.map { .reply($0) } ?? .hang
        }
        let harness = harness(transport)
        let player = EarlyPlayer(harness.loader)
        async let result = harness.loader.preload(Stream.address, into: player)
        while player.requests.first?.answers.isEmpty ?? true, !Task.isCancelled { await Task.yield() }
        #expect(player.requests.map(\.keyURI) == [Stream.session])
        gate.open()
        #expect(await result.words(.license) == ["prepared", "prepared", "prepared"])
    }

    @Test func `a new request for a preloaded key gets its own license`() async {
        let count = Locked(0)
        let harness = harness(
            Stream.transport { _, _ in
                .ok(
                    SampleBytes.ckc(
                        count.withLock { count in
                            count += 1; return count
                        }))
            })
        let player = EarlyPlayer(harness.loader)
        _ = await harness.loader.preload(Stream.address, into: player)
        let again = FakeKeyRequest(Stream.session)
        #expect(await harness.answer(again).ckc == SampleBytes.ckc(4))
        #expect(harness.posts.count == 4)
    }

    @Test func `a key's failure stays its own`() async {
        let harness = harness(
            Stream.transport { request, _ in request.url?.lastPathComponent == "audio" ? .status(404) : .ckc })
        let result = await harness.loader.preload(Stream.address, into: EarlyPlayer(harness.loader))
        #expect(result.words(.license) == ["prepared", "notFound", "prepared"])
        #expect(result.end == .complete)
    }

    @Test func `keys a player declines are prepared anyway`() async {
        let harness = harness()
        let player = EarlyPlayer(harness.loader) { $0 != Stream.session }
        let result = await harness.loader.preload(Stream.address, into: player)
        #expect(result.words(.license) == ["playerDeclined", "prepared", "prepared"])
        #expect(result.first == ["prepared", "notNeeded", "prepared", "notConfigured", "playerDeclined"])
    }

    @Test func `a key without a name is not requested`() async {
        let harness = harness(Stream.transport(["video.m3u8": .ok(Stream.media(["skd://x/y"]))]))
        let player = EarlyPlayer(harness.loader)
        let result = await harness.loader.preload(Stream.address, into: player)
        #expect(result.words(.license) == ["prepared", "prepared", "contentIdentifierMissing"])
        #expect(player.requests.count == 2)
    }

    // MARK: - Without such a player

    @Test func `without a player everything but the license is ready, for one request`() async {
        let harness = harness()
        let result = await harness.loader.preload(Stream.address)
        #expect(result.first == ["prepared", "notNeeded", "prepared", "notConfigured", "noPlayer"])
        #expect(result.requests == 4 && harness.posts.isEmpty)
        let before = harness.transport.requests.count
        let events = harness.loader.events()
        #expect(await harness.answer(FakeKeyRequest(Stream.session)).ckc == SampleBytes.ckc())
        #expect(harness.transport.requests.count == before + 1)
        let isSaid = await events.untilAnswered().contains {
            if case .certificateFromCache = $0.kind { true } else { false }
        }
        #expect(isSaid)
    }

    @Test func `the result and the events say what is ready for each key`() async {
        let harness = harness()
        let events = harness.loader.events()
        let result = await harness.loader.preload(Stream.address)
        harness.loader.answer(FakeKeyRequest(key))
        let told = await events.untilAnswered().compactMap { event in
            if case .preloaded(let parts) = event.kind { "\(event.key?.raw ?? "") \(parts)" } else { nil as String? }
        }
        #expect(told == result.keys.map { "\($0.uri) \($0.prepared)" })
        #expect(result.keys.allSatisfy { $0.prepared == [.certificate, .connection] })
    }

    @Test func `one connection is opened to each license server that the preload did not contact`() async {
        let profile = VendorProfile.raw.setting("licenseURL", to: "https://licenses.example.com/fps?token=1")
        let harness = Harness(profile.unchecked, over: Stream.transport())
        let result = await harness.loader.preload(Stream.address)
        #expect(result.words(.connection) == ["prepared", "prepared", "prepared"])
        #expect(harness.transport.warmed.map(\.absoluteString) == ["https://licenses.example.com:443/"])
        #expect(result.requests == 5)
    }

    @Test func `no connection is opened to a host named only by the playlist`() async {
        let harness = harness(Stream.transport(["master.m3u8": .ok(Stream.media(["skd://evil.example/license/abc"]))]))
        let result = await harness.loader.preload(Stream.address)
        #expect(result.first == ["prepared", "notNeeded", "hostRefused", "notConfigured", "noPlayer"])
        #expect(harness.transport.warmed.isEmpty)
    }

    // MARK: - Limits and ends

    @Test func `limits defer keys and playlists`() async {
        let harness = harness()
        let few = await harness.loader.preload(Stream.address, limits: PreloadLimits(keys: 1))
        #expect(few.words(.certificate) == ["prepared", "beyondLimit", "beyondLimit"])
        let short = await harness.loader.preload(Stream.address, limits: PreloadLimits(playlists: 2))
        #expect(short.keys.map(\.uri) == [Stream.session, Stream.audio])
        #expect(short.unread.map(\.stage) == [.playlist])
        let one = await harness.loader.preload(Stream.address, limits: PreloadLimits(playlists: 1))
        #expect(one.keys.map(\.uri) == [Stream.session] && one.unread.isEmpty)
    }

    @Test func `a player that promises but does nothing costs the time limit`() async {
        let harness = harness()
        let player = EarlyPlayer(harness.loader, makesRequests: false)
        async let result = harness.loader.preload(Stream.address, into: player)
        while player.asked.count < 3, !Task.isCancelled { await Task.yield() }
        await harness.clock.untilSomeoneSleeps(for: .seconds(10))
        harness.clock.advance(by: .seconds(10))
        #expect(await result.end == .timeIsOver)
        #expect(await result.words(.license) == ["timeIsOver", "timeIsOver", "timeIsOver"])
        #expect(await result.took == .seconds(10))
    }

    @Test func `cancelling the loader ends preloads with the ready parts and starts none`() async {
        let harness = harness(Stream.transport(license: { _, _ in .hang }))
        let player = EarlyPlayer(harness.loader)
        async let result = harness.loader.preload(Stream.address, into: player)
        await harness.transport.untilRequested(7)
        harness.loader.cancel()
        #expect(await result.end == .cancelled)
        #expect(await result.words(.license) == ["cancelled", "cancelled", "cancelled"])
        #expect(player.requests.allSatisfy { $0.answers.map(\.error?.code) == ["cancelled"] })
        let late = await harness.loader.preload(Stream.address)
        #expect(late.end == .cancelled && late.keys.isEmpty)
        #expect(harness.transport.requests.count == 7)
    }

    @Test func `cancelling the task ends its preload but not shared work`() async {
        let gate = Gate()
        let harness = harness(
            FakeTransport { request, _ in
                guard request.url?.pathExtension != "m3u8" else { return .hang }
                await gate.wait()
                return request.httpMethod == "POST" ? .ckc : .certificate
            })
        let task = Task { await harness.loader.preload(Stream.address) }
        await harness.transport.untilRequested(2)
        let request = FakeKeyRequest(key)
        harness.loader.answer(request)
        task.cancel()
        #expect(await task.value.end == .cancelled)
        gate.open()
        #expect(await request.firstAnswer().ckc == SampleBytes.ckc())
        #expect(harness.transport.requests.count == 3)
    }

    @Test(arguments: 1...20) func `cancelling at random ends the preload and leaves no request open`(
        seed: UInt64
    ) async {
        var generator = SeededGenerator(seed: seed)
        let harness = harness()
        let player = EarlyPlayer(harness.loader)
        async let result = harness.loader.preload(Stream.address, into: player)
        for _ in 0..<Int.random(in: 0...150, using: &generator) { await Task.yield() }
        harness.loader.cancel()
        let words = await result.words(.license)
        #expect(words.allSatisfy { ["prepared", "cancelled"].contains($0) })
        for request in player.requests { _ = await request.firstAnswer() }
        #expect(player.requests.allSatisfy { $0.answers.count == 1 })
        #expect(harness.loader.preloads.count == 0)
    }
}
