import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@_spi(Adapters) @testable import Latchkey

/// A request that its adapter may end before the loader does.
@Suite(.timeLimit(.minutes(5))) struct ReplyingKeyRequestTests {
    private final class Request: ReplyingKeyRequest {
        let keyURI = key
        let purpose: KeyPurpose
        let reply = PlayerReply()
        let answers = Locked<[Result<Data, ContentKeyError>]>([])
        let isAnswered = Gate()

        init(_ purpose: KeyPurpose = .streaming) { self.purpose = purpose }

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { SampleBytes.spc }

        func answer(_ result: Result<Data, ContentKeyError>) {
            if reply.resolve(result) { answers.withLock { $0.append(result) } }
            isAnswered.open()
        }
    }

    @Test func `it is answered through its reply`() async {
        let request = Request()
        request.start(Harness().loader)
        await request.isAnswered.wait()
        #expect(request.reply.state.isAnswered && request.answers.withLock { $0.map(\.ckc) } == [SampleBytes.ckc()])
    }

    @Test func `a request already given up is not handed to the loader`() async {
        let (harness, request) = (Harness(), Request())
        request.reply.abandon()
        request.start(harness.loader)
        #expect(request.reply.state.isAbandoned && harness.loader.statistics.requested == 0)
        #expect(!request.reply.release())
    }

    @Test func `a request released before its start is answered, then released`() async {
        let (harness, request) = (Harness(post: [.hang]), Request())
        request.release()
        #expect(request.answers.withLock { $0.map(\.error?.code) } == ["cancelled"])
        let late = Request()
        late.reply.release()
        late.reply.attach(harness.loader.answer(late))
        await late.isAnswered.wait()
        #expect(late.answers.withLock { $0.map(\.error?.code) } == ["cancelled"])
    }

    @Test func `a request released under way is answered with cancelled, once`() async {
        let (harness, request) = (Harness(post: [.hang]), Request())
        request.start(harness.loader)
        await harness.transport.untilRequested(2)
        request.release()
        request.release()
        #expect(request.reply.state.refusal?.kind == .cancelled)
        #expect(request.answers.withLock { $0.count } == 1)
    }

    @Test(arguments: [(KeyPurpose.streaming, true), (.renewal, false)])
    func `a key that the player rejected is released, and a renewal's leaves the previous one`(
        purpose: KeyPurpose, isReleased: Bool
    ) async {
        let harness = Harness { $0.leases = LeasePolicy(jitter: 0, assumedLease: .seconds(60)) }
        let first = Request()
        first.start(harness.loader)
        await first.isAnswered.wait()
        let request = purpose == .renewal ? Request(.renewal) : first
        if purpose == .renewal {
            request.start(harness.loader)
            await request.isAnswered.wait()
        }
        request.discard()
        #expect(harness.loader.requests.holdsKeys != isReleased)
    }
}
