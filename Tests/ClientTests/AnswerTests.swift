import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Exactly one answer, whatever happens.
@Suite(.timeLimit(.minutes(5))) struct AnswerTests {
    @Test func `cancelling before any request answers immediately`() {
        let request = FakeKeyRequest(key)
        Harness(get: [.hang]).loader.answer(request).cancel()
        #expect(request.answers.map(\.error?.code) == ["cancelled"])
    }

    @Test func `cancelling stops the exchange and answers before it returns`() async {
        let ended = Gate()
        let harness = Harness(
            over: FakeTransport { request, _ in
                guard request.httpMethod == "POST" else { return .certificate }
                await withTaskCancellationHandler {
                    await ended.wait()
                } onCancel: {
                    ended.open()
                }
                return .ckc
            })
        let request = FakeKeyRequest(key)
        let handle = harness.loader.answer(request)
        await harness.transport.untilRequested(2)
        let events = harness.loader.events()
        handle.cancel()
        #expect(request.answers.map(\.error?.code) == ["cancelled"])
        await ended.wait()
        _ = await events.untilAnswered()
        #expect(request.answers.count == 1)
    }

    @Test func `cancelling after the answer changes nothing`() async {
        let harness = Harness()
        let request = FakeKeyRequest(key)
        let handle = harness.loader.answer(request)
        _ = await request.firstAnswer()
        handle.cancel()
        handle.cancel()
        harness.loader.cancel()
        #expect(request.answers.map(\.ckc) == [SampleBytes.ckc()])
    }

    @Test func `cancelling the loader answers all open and all later requests`() async {
        let harness = Harness(post: [.hang]) { $0.requestsPerHost = 40 }
        let requests = (0..<50).map { _ in FakeKeyRequest(key) }
        for request in requests { harness.loader.answer(request) }
        await harness.transport.untilRequested(41)
        harness.loader.cancel()
        #expect(requests.allSatisfy { $0.answers.map(\.error?.code) == ["cancelled"] })
        let late = FakeKeyRequest(key)
        harness.loader.answer(late)
        #expect(late.answers.map(\.error?.code) == ["cancelled"])
        #expect(harness.transport.requests.count == 41)
    }

    @Test func `an abandoned request gets no answer`() async {
        let harness = Harness(post: [.hang])
        let events = harness.loader.events()
        let request = FakeKeyRequest(key)
        let handle = harness.loader.answer(request)
        await harness.transport.untilRequested(2)
        handle.abandon()
        handle.cancel()
        _ = await events.untilAnswered()
        harness.loader.cancel()
        #expect(request.answers.isEmpty)
    }

    @Test func `a dropped request is answered with an error`() {
        let request = FakeKeyRequest(key)
        do { _ = KeyRequests().add(request) }
        #expect(request.answers.map(\.error?.code) == ["dropped"])
    }

    @Test func `an answered request is not answered again, even if it is dropped`() {
        let request = FakeKeyRequest(key)
        do {
            let requests = KeyRequests()
            let added = requests.add(request)
            #expect(requests.finish(added, .license(Secret(SampleBytes.ckc()), nil)))
            #expect(!requests.finish(added, .failure(.cancelled)))
            added.abandon()
            added.cancel()
        }
        #expect(request.answers.count == 1)
    }

    @Test func `many threads answering one request give one answer`() async {
        for _ in 0..<200 {
            let request = FakeKeyRequest(key)
            let requests = KeyRequests()
            let added = requests.add(request)
            await withTaskGroup { group in
                for _ in 0..<2 { group.addTask { _ = requests.finish(added, .failure(.cancelled)) } }
                for _ in 0..<2 { group.addTask { added.cancel() } }
            }
            #expect(request.answers.count == 1)
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `five hundred keys, half of them cancelled at random, get one answer each`(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        let delays = Locked(SeededGenerator(seed: seed))
        let harness = Harness(
            over: FakeTransport { request, _ in
                for _ in 0..<delays.withLock({ Int.random(in: 0..<20, using: &$0) }) { await Task.yield() }
                return request.httpMethod == "POST" ? .ckc : .certificate
            })
        let requests = (0..<500).map { _ in
            FakeKeyRequest(key) {
                await Task.yield()
                return SampleBytes.spc
            }
        }
        await withTaskGroup { group in
            for (index, request) in requests.enumerated() {
                let turns = Int.random(in: 0..<60, using: &generator)
                group.addTask {
                    let handle = harness.loader.answer(request)
                    for _ in 0..<turns { await Task.yield() }
                    if index.isMultiple(of: 2) { handle.cancel() }
                    await handle.workEnded()
                }
            }
        }
        #expect(requests.allSatisfy { $0.answers.count == 1 })
        let kept = requests.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        #expect(kept.allSatisfy { $0.answers.first?.ckc == SampleBytes.ckc() })
        #expect(requests.allSatisfy { [nil, "cancelled"].contains($0.answers.first?.error?.code) })
    }

    @Test func `a storm of keys leaves none open when the loader is cancelled`() async {
        for turns in 0..<40 {
            let harness = Harness()
            let requests = (0..<10).map { _ in FakeKeyRequest(key) }
            await withTaskGroup { group in
                for request in requests { group.addTask { _ = harness.loader.answer(request) } }
                group.addTask {
                    for _ in 0..<turns { await Task.yield() }
                    harness.loader.cancel()
                }
            }
            for request in requests { _ = await request.firstAnswer() }
            #expect(requests.allSatisfy { $0.answers.count == 1 })
        }
    }
}
