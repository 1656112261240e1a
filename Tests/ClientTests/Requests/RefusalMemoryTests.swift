import Foundation
import LatchkeyCore
@_spi(Adapters) import LatchkeyTesting
import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// A service's final refusal answers a player that immediately asks again.
@Suite(.timeLimit(.minutes(2))) struct RefusalMemoryTests {
    private func ask(
        _ harness: Harness, _ uri: KeyURI = key, _ purpose: KeyPurpose = .streaming, of asset: AssetID? = nil,
        on player: PlayerID = .only
    ) async -> ContentKeyError? {
        await harness.answer(FakeKeyRequest(uri, purpose: purpose, asset: asset, player: player)).error
    }

    @Test(arguments: [(404, "notFound", 1), (403, "forbidden", 2), (401, "unauthenticated", 2)])
    func `a player that asks eight times costs one license request and one report`(
        _ status: Int, _ code: String, _ posts: Int
    ) async {
        let harness = Harness(post: [.status(status)])
        let events = harness.loader.events()
        var errors: [ContentKeyError?] = []
        for _ in 1...8 { errors.append(await ask(harness)) }
        #expect(errors.allSatisfy { $0?.code == code && $0?.service?.status == status })
        #expect(errors.map { $0?.isRepeated } == [false] + Array(repeating: true, count: 7))
        #expect(errors.filter { $0?.isReportable == true }.count == 1)
        // With 401 and 403 new credentials are tried once.
        #expect(harness.posts.count == posts && harness.credentials.requests.count == posts)
        let failed = await events.untilAnswered(8).filter { if case .failed = $0.kind { true } else { false } }
        #expect(failed.map(\.level) == [.error] + Array(repeating: .info, count: 7))
        #expect(harness.loader.statistics.failures == [code: 8])
    }

    @Test func `later the service is asked again`() async {
        let harness = Harness(post: [.status(404), .ckc])
        #expect(await ask(harness)?.isRepeated == false)
        harness.clock.advance(by: .milliseconds(9_999))
        #expect(await ask(harness)?.isRepeated == true)
        harness.clock.advance(by: .milliseconds(1))
        #expect(await ask(harness) == nil)
    }

    @Test func `a zero lifetime keeps no refusals`() async {
        let harness = Harness(post: [.status(404), .ckc]) { $0.retry.refusalMemory = .zero }
        #expect(await ask(harness)?.isRepeated == false)
        #expect(await ask(harness) == nil)
    }

    @Test func `another player, title, key or purpose asks anew`() async {
        let harness = Harness(post: [.status(404)])
        #expect(await ask(harness, of: "one")?.isRepeated == false)
        #expect(await ask(harness, of: "two")?.isRepeated == false)
        #expect(await ask(harness, of: "one", on: "mini")?.isRepeated == false)
        #expect(await ask(harness, key, .persistable, of: "one")?.isRepeated == false)
        #expect(await ask(harness, "skd://fairplay-license.vudrm.tech/license/def", of: "one")?.isRepeated == false)
        #expect(await ask(harness, of: "one")?.isRepeated == true)
        #expect(harness.posts.count == 5)
    }

    @Test func `a renewal is never answered from memory`() async {
        let harness = Harness(post: [.status(404)])
        for _ in 1...2 { #expect(await ask(harness, key, .renewal)?.isRepeated == false) }
        #expect(harness.posts.count == 2)
    }

    @Test func `temporary failures and ones the app can fix are not remembered`() async {
        struct NoSession: Error {}
        let passing = Harness(post: [.status(503), .ckc]) { $0.retry = .never }
        #expect(await ask(passing)?.isRetryable == true)
        #expect(await ask(passing) == nil)
        let signedIn = Locked(false)
        let signingIn = Harness(
            credentials: Credentials { _ in
                guard signedIn.withLock({ $0 }) else { throw NoSession() }
                return .token(token)
            })
        #expect(await ask(signingIn)?.kind == .credentialsFailed)
        signedIn.withLock { $0 = true }
        #expect(await ask(signingIn) == nil)
    }

    /// An action of an app or an adapter that begins something new.
    enum Beginning: CaseIterable, Sendable {
        case everything, title, player, otherSource, release
    }

    @Test(arguments: Beginning.allCases)
    func `a new beginning asks the service again`(_ beginning: Beginning) async {
        let harness = Harness(post: [.status(404), .ckc])
        let request = FakeKeyRequest(key, asset: "one")
        let handle = harness.loader.answer(request)
        #expect(await request.firstAnswer().error?.isRepeated == false)
        switch beginning {
        case .everything: harness.loader.forgetRefusals()
        case .title:
            harness.loader.forgetRefusals(of: "two" as AssetID)
            #expect(await ask(harness, of: "one")?.isRepeated == true)
            harness.loader.forgetRefusals(of: "one" as AssetID)
        case .player: harness.loader.forgetRefusals(by: .only)
        case .otherSource: harness.loader.release(.only)
        case .release: handle.release()
        }
        #expect(await ask(harness, of: "one") == nil)
    }

    @Test func `released keys are requested anew`() async {
        let harness = Harness(post: [.status(404), .ckc])
        let keys = PlayerKeys(harness.loader)
        let errors = Locked<[ContentKeyError?]>([])
        for isReleased in [false, false, true] {
            if isReleased { keys.release() }
            await withCheckedContinuation { done in
                keys.license(for: SampleBytes.spc, key: key) { result in
                    errors.withLock { $0.append(result.error) }
                    done.resume()
                }
            }
        }
        #expect(errors.withLock { $0 }.map { $0?.isRepeated } == [false, true, nil])
        keys.release()
    }

    @Test func `a stored key answers even after a refusal`() async throws {
        let store = MemoryKeyStore()
        let harness = Harness(post: [.ckc, .status(404)]) { $0.keyStore = store }
        try await harness.loader.offline?.register("movie", keys: [key])
        for (use, isKey) in [
            (StoredKeyUse.reuse, true), (.replace, false), (.replace, false), (.reuse, true),
        ] {
            let request = FakePersistableRequest(key, storedKey: use)
            harness.loader.answer(request)
            #expect(await (request.firstAnswer().ckc != nil) == isKey)
        }
        #expect(harness.posts.count == 2)
    }

    @Test(arguments: [Diagnosis.Kind.concurrencyLimit, .notYetValid])
    func `a refusal that will soon change is not remembered`(_ kind: Diagnosis.Kind) {
        let memory = RefusalMemory(ManualTimekeeper(), lifetime: .seconds(10))
        let question = RefusalMemory.Question(player: .only, asset: nil, key: key, purpose: .streaming)
        memory.note(ContentKeyError(kind, "Later.", service: ServiceReply(status: 403)), of: question)
        #expect(memory.count == 0)
    }

    @Test func `the memory of refusals is bounded, and drops the oldest first`() {
        let clock = ManualTimekeeper()
        let memory = RefusalMemory(clock, lifetime: .seconds(10))
        let error = ContentKeyError(.notFound, "Gone.", service: ServiceReply(status: 404))
        func question(_ number: Int) -> RefusalMemory.Question {
            .init(player: .only, asset: nil, key: KeyURI("skd://\(number)"), purpose: .streaming)
        }
        for number in 0...RefusalMemory.limit {
            memory.note(error, of: question(number))
            clock.advance(by: .milliseconds(1))
        }
        #expect(memory.count == RefusalMemory.limit)
        #expect(memory[question(0)] == nil && memory[question(1)]?.isRepeated == true)
        clock.advance(by: .seconds(10))
        memory.note(error, of: question(0))
        #expect(memory.count == 1)
    }

    @Test func `a repeated refusal is marked in JSON and logs`() throws {
        var error = ContentKeyError(.notFound, stage: .license, "Gone.", service: ServiceReply(status: 404))
        #expect(!String(decoding: try JSONEncoder().encode(error), as: UTF8.self).contains("isRepeated"))
        error.isRepeated = true
        let read = try JSONDecoder().decode(ContentKeyError.self, from: JSONEncoder().encode(error))
        #expect(read.isRepeated)
        #expect("\(KeyEvent.Kind.failed(read, took: .zero))".hasPrefix("refused again, and not asked for: notFound"))
    }
}
