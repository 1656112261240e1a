import StandInEngine
import Testing

/// Every wait of a test on a stage ends with the test's time limit, which cancels.
@Suite(.timeLimit(.minutes(1))) struct CancelledWaitTests {
    @Test func `a wait for a callback that never comes ends when its task is cancelled`() async {
        let log = StandInLog()
        let task = Task { await log.untilCallback("never") }
        await Task.yield()
        task.cancel()
        await task.value
    }

    @Test func `a wait for an outcome ends when its task is cancelled, and the others wait on`() async throws {
        let outcome = StandInOutcome<Int>()
        let (one, other) = (Task { try await outcome.value }, Task { try await outcome.value })
        one.cancel()
        await #expect(throws: CancellationError.self) { try await one.value }
        #expect(!outcome.isSettled)
        #expect(outcome.settle(.success(7)) && !outcome.settle(.success(8)))
        #expect(try await other.value == 7)
    }
}
