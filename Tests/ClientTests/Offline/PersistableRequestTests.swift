import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct PersistableRequestTests {
    private let store = MemoryKeyStore()
    private let ckc = FakePersistableRequest.storedForm(of: SampleBytes.ckc())

    private func harness(post: [FakeTransport.Step] = [.ckc]) async throws -> Harness {
        let harness = Harness(post: post) { $0.keyStore = store }
        try await harness.loader.offline?.register("movie", keys: [key])
        return harness
    }

    private func answer(_ request: FakePersistableRequest, _ harness: Harness) async -> FakeKeyRequest.Answer {
        harness.loader.answer(request)
        return await request.firstAnswer()
    }

    @Test func `the answer is the stored form, never the CKC`() async throws {
        let harness = try await harness()
        #expect(await answer(FakePersistableRequest(key), harness).ckc == ckc)
        #expect(try await harness.loader.offline?.asset("movie")?.isReady == true)
        #expect(harness.credentials.reasons == [.offline])
    }

    @Test func `a stored key answers without network, certificate and SPC`() async throws {
        _ = await answer(FakePersistableRequest(key), try await harness())
        let offline = Harness(over: FakeTransport { _, _ in .hang }) { $0.keyStore = store }
        let events = offline.loader.events()
        let request = FakePersistableRequest(key)
        #expect(await answer(request, offline).ckc == ckc)
        #expect(request.spcCount == 0)
        #expect(offline.transport.requests.isEmpty)
        let kinds = await events.untilAnswered().map { $0.kind.name }
        #expect(kinds == ["requested", "answeredFromStore", "answered"])
        #expect(offline.loader.statistics.answered == 1 && offline.loader.statistics.licenses == 0)
    }

    @Test func `a stored key is not renewed like a lease`() async throws {
        let harness = Harness {
            $0.keyStore = store
            $0.leases.assumedLease = .seconds(600)
        }
        try await harness.loader.offline?.register("movie", keys: [key])
        let events = harness.loader.events()
        for _ in 0..<2 { _ = await answer(FakePersistableRequest(key), harness) }
        let planned = await events.untilAnswered(2).filter {
            if case .renewalPlanned = $0.kind { true } else { false }
        }
        #expect(planned.isEmpty)
    }

    @Test func `a renewal replaces the stored key`() async throws {
        let harness = try await harness(post: [.ckc, .ok(SampleBytes.ckc(2))])
        _ = await answer(FakePersistableRequest(key), harness)
        let second = await answer(FakePersistableRequest(key, storedKey: .replace), harness).ckc
        #expect(second == FakePersistableRequest.storedForm(of: SampleBytes.ckc(2)))
        #expect(await answer(FakePersistableRequest(key), harness).ckc == second)
        #expect(harness.posts.count == 2)
    }

    @Test func `a key that cannot be stored plays but is not ready`() async throws {
        let harness = try await harness()
        store.failWrites(OfflineError(.keyStoreUnwritable, "The disk is full."))
        let events = harness.loader.events()
        #expect(await answer(FakePersistableRequest(key), harness).ckc == ckc)
        let failures = await events.untilAnswered().compactMap {
            if case .storeFailed(let error) = $0.kind { error.code } else { nil }
        }
        #expect(failures == ["keyStoreUnwritable"])
        store.failWrites(nil)
        #expect(try await harness.loader.offline?.asset("movie")?.state == .requested)
    }

    @Test func `an unreadable store costs a network request but not the key`() async throws {
        let harness = try await harness()
        store.put(Secret("{"), at: .index)
        let next = Harness { $0.keyStore = store }
        #expect(await answer(FakePersistableRequest(key), next).ckc == ckc)
        #expect(next.posts.count == 1)
        _ = harness
    }

    @Test(arguments: [true, false])
    func `a player that stores no such key gets an error, and nothing is stored`(_ throwsError: Bool) async throws {
        let harness = try await harness()
        let request = FakePersistableRequest(
            key, persist: { _ in if throwsError { throw CancellationError() } else { Data() } })
        let error = await answer(request, harness).error
        #expect(error?.kind == .persistableKeyFailed)
        #expect(error?.stage == .answer)
        #expect(try await harness.loader.offline?.asset("movie")?.state == .requested)
    }

    @Test func `without a store the answer is still the stored form`() async throws {
        let harness = Harness()
        #expect(harness.loader.offline == nil)
        #expect(await answer(FakePersistableRequest(key), harness).ckc == ckc)
    }

    @Test func `cancelling the loader ends the list of keys`() async throws {
        let harness = try await harness()
        var lists = try #require(harness.loader.offline).changes().makeAsyncIterator()
        _ = await lists.next()
        harness.loader.cancel()
        #expect(await lists.next() == nil)
    }

    @Test func `no event or error shows a key`() async throws {
        let harness = try await harness()
        let events = harness.loader.events()
        _ = await answer(FakePersistableRequest(key), harness)
        var shown = ""
        for event in await events.untilAnswered() { dump(event, to: &shown) }
        dump(try await harness.loader.offline?.assets(), to: &shown)
        for form in [ckc, SampleBytes.ckc()] {
            #expect(
                !shown.contains(form.base64EncodedString()) && !shown.contains(String(decoding: form, as: UTF8.self)))
        }
    }
}
