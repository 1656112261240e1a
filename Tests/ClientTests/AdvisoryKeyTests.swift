import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// Keys that the player's system already holds: neither a CKC nor an error, but still one end for each request.
///
/// Source: `Documentation/Players.md` §3.3, `makeOptionalStreamingContentKeyRequestData`.
@Suite(.timeLimit(.minutes(5))) struct AdvisoryKeyTests {
    @Test func `a key that the system holds ends the request without a license or an answer`() async {
        let harness = Harness()
        let events = harness.loader.events()
        let request = FakeKeyRequest(key) { nil }
        let handle = harness.loader.answer(request)
        await request.untilSystemHolds()
        let last = await events.untilAnswered().last
        guard case .heldBySystem = last?.kind else {
            Issue.record("the last event is \(String(describing: last))")
            return
        }
        #expect(request.certificates == [SampleBytes.certificate] && request.identifiers == [Data("abc".utf8)])
        #expect(harness.posts.isEmpty && harness.credentials.reasons.isEmpty)
        handle.cancel()
        handle.release()
        harness.loader.cancel()
        #expect(request.answers.isEmpty && request.systemHolds == 1)
    }

    @Test func `a request cancelled while the system is asked gets only the error`()
        async
    {
        let (isAsked, mayAnswer) = (Gate(), Gate())
        let harness = Harness()
        let request = FakeKeyRequest(key) {
            isAsked.open()
            await mayAnswer.wait()
            return nil
        }
        let handle = harness.loader.answer(request)
        await isAsked.wait()
        handle.cancel()
        mayAnswer.open()
        await handle.workEnded()
        #expect(request.answers.map(\.error?.code) == ["cancelled"] && request.systemHolds == 0)
    }

    @Test func `only the first of a CKC, an error and a held key counts`() {
        let request = FakeKeyRequest(key)
        do {
            let requests = KeyRequests()
            let added = requests.add(request)
            #expect(requests.finish(added, .heldBySystem))
            #expect(!requests.finish(added, .heldBySystem))
            #expect(!requests.finish(added, .license(Secret(SampleBytes.ckc()), nil)))
            added.cancel()
        }
        #expect(request.answers.isEmpty && request.systemHolds == 1)
        let other = FakeKeyRequest(key)
        let requests = KeyRequests()
        let added = requests.add(other)
        #expect(requests.finish(added, .failure(.cancelled)) && !requests.finish(added, .heldBySystem))
        #expect(other.systemHolds == 0)
    }

    @Test func `a renewal that the system spares ends the loader's work on the key`() async throws {
        var profile = VendorProfile.raw
        profile.renewal = RenewalPolicy(interval: 60)
        let renewals = AsyncStream.makeStream(of: FakeKeyRequest.self)
        let harness = Harness(profile.unchecked) { $0.leases = LeasePolicy(jitter: 0) }
        let first = FakeKeyRequest(
            key,
            renewing: { _ in
                let renewal = FakeKeyRequest(key, purpose: .renewal) { nil }
                harness.loader.answer(renewal)
                renewals.continuation.yield(renewal)
                return true
            })
        #expect(await harness.answer(first).ckc == SampleBytes.ckc())
        await harness.advance([.seconds(60)])
        var iterator = renewals.stream.makeAsyncIterator()
        let renewal = try #require(await iterator.next())
        await renewal.untilSystemHolds()
        #expect(!harness.loader.requests.holdsKeys)
        harness.clock.advance(by: .seconds(600))
        #expect(first.renewals == 1 && first.ends.isEmpty && harness.posts.count == 1)
    }

    @Test func `a key that the system holds is not stored`() async throws {
        let store = MemoryKeyStore()
        let harness = Harness { $0.keyStore = store }
        let offline = try #require(harness.loader.offline)
        try await offline.register("movie", keys: [key])
        let request = FakePersistableRequest(key, spc: { nil })
        harness.loader.answer(request)
        await request.untilSystemHolds()
        #expect(request.answers.isEmpty && harness.posts.isEmpty)
        #expect(try await offline.asset("movie")?.state == .requested)
    }

    @Test func `a preload says that the system holds the key`() async {
        let harness = Harness(over: PreloadStream.transport())
        let player = HoldingPlayer(loader: harness.loader)
        let result = await harness.loader.preload(PreloadStream.address, into: player)
        #expect(!result.keys.isEmpty && harness.posts.isEmpty)
        for key in result.keys {
            guard case .skipped(.heldBySystem) = key[.license].kind else {
                Issue.record("\(key.uri): \(key[.license])")
                continue
            }
        }
    }

    @Test func `an adapter's reply stays held and resolves to nothing else`() async {
        let request = ReplyingFake()
        request.start(Harness().loader)
        await request.ended.wait()
        #expect(request.reply.state.isHeldBySystem && !request.reply.state.isPending)
        #expect(!request.reply.resolve(.failure(.cancelled)))
        request.release()
        #expect(request.reply.state.isHeldBySystem)
    }
}

/// A player whose system holds every key.
private struct HoldingPlayer: PreloadingPlayer {
    let loader: ContentKeyLoader

    func preload(_ key: KeyURI, as asset: AssetID?, of stream: URL?) -> Bool {
        loader.answer(FakeKeyRequest(key) { nil })
        return true
    }
}

private final class ReplyingFake: ReplyingKeyRequest {
    let keyURI = key
    let reply = PlayerReply()
    let ended = Gate()

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { SampleBytes.spc }
    func makeOptionalSPC(certificate: Data, contentIdentifier: Data) async throws -> Data? { nil }

    func systemHoldsKey() {
        reply.resolveHeldBySystem()
        ended.open()
    }

    func answer(_ result: Result<Data, ContentKeyError>) { _ = reply.resolve(result) }
}
