import AVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import StandInEngine
import Testing

@testable import LatchkeyAVFoundation

/// The outcomes that the owner of keys reads, without a closure.
@Suite(.timeLimit(.minutes(5))) struct OutcomeTests {
    @Test func `outcomes wait for their first reader and end with the keys`() async throws {
        try await PlayerStage.with { stage in
            let outcomes: AsyncStream<AVPlayerKeys.Outcome>
            do {
                let keys = AVPlayerKeys(stage.loader())
                outcomes = keys.outcomes
                keys.preload(stage.key())
                await stage.log.untilCallback("didSucceed")
                stage.service(for: .vuDRM).faults.set(.status(403), at: .license)
                keys.preload(stage.key(1))
                await stage.log.untilCallback("didFail")
                await Self.settle(keys.queue)
            }
            var read: [String] = []
            for await outcome in outcomes {
                switch outcome {
                case .notice(.succeeded(let key, .streaming)): read.append("\(key == stage.key())")
                case .failure(let failure): read.append(failure.loaderError?.code ?? "")
                default: read.append("\(outcome)")
                }
            }
            #expect(read == ["true", "forbidden"])
        }
    }

    @Test func `closures take no outcomes from the reader`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            stage.service(for: .vuDRM).faults.set(.status(403), at: .license)
            let keys = AVPlayerKeys(stage.loader(), onFailure: failures.add)
            keys.preload(stage.key())
            await failures.until(1)
            var iterator = keys.outcomes.makeAsyncIterator()
            guard case .failure(let failure) = await iterator.next() else {
                Issue.record("The first outcome is not the failure.")
                return
            }
            #expect(failure.loaderError?.kind == .forbidden)
            withExtendedLifetime(keys) {}
        }
    }

    @Test func `a cancelled request is an outcome without a visible failure`() async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).hold()
            let failures = FailureLog()
            let keys = AVPlayerKeys(stage.loader(), onFailure: failures.add)
            keys.preload(stage.key())
            await stage.service(for: .vuDRM).untilLicenses(1)
            let session = try #require(keys.state.withLock { $0.sessions.first?.session })
            for request in session.standIn.openRequests { session.standIn.cancel(request) }
            var iterator = keys.outcomes.makeAsyncIterator()
            guard case .cancellation(let failure) = await iterator.next() else {
                Issue.record("The outcome is not a cancellation.")
                return
            }
            #expect(failure.key == stage.key() && failures.all.isEmpty)
            stage.service(for: .vuDRM).open()
        }
    }

    @Test func `unread outcomes are bounded, and dropped ones are counted`() async {
        let unread = UnreadOutcomes()
        for _ in 0..<(UnreadOutcomes.limit + 10) { unread.add(.notice(.stuck)) }
        var iterator = unread.stream.makeAsyncIterator()
        for _ in 0..<UnreadOutcomes.limit { _ = await iterator.next() }
        unread.add(.notice(.reportsPending))
        unread.finish()
        var rest: [String] = []
        while let outcome = await iterator.next() { rest.append("\(outcome)") }
        #expect(rest == ["dropped(10)", "notice(LatchkeyAVFoundation.AVPlayerKeys.Notice.reportsPending)"])
    }

    /// Waits until a queue has done its work.
    private static func settle(_ queue: DispatchQueue) async {
        await withCheckedContinuation { done in queue.async { queue.async { done.resume() } } }
    }
}
