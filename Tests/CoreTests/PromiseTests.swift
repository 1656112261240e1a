import LatchkeyCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct PromiseTests {
    private struct Failure: Error, Equatable { let number: Int }

    @Test func `the first result counts, the others are ignored`() async throws {
        let promise = Promise<Int, any Error>()
        #expect(promise.outcome == nil)
        #expect(promise.resolve(.success(1)))
        #expect(!promise.resolve(.success(2)))
        #expect(!promise.resolve(.failure(Failure(number: 3))))
        #expect(try await promise.value == 1)
        #expect(try promise.outcome?.get() == 1)
    }

    @Test func `many may wait, before and after the result`() async throws {
        let promise = Promise<Int, any Error>()
        let early = (0..<100).map { _ in Task { try await promise.value } }
        await Task.yield()
        promise.resolve(.success(7))
        for task in early { #expect(try await task.value == 7) }
        #expect(try await promise.value == 7)
    }

    @Test func `a failure is thrown to all waiters`() async {
        let promise = Promise<Int, Failure>()
        let waiting = Task { try await promise.value }
        promise.resolve(.failure(Failure(number: 1)))
        await #expect(throws: Failure(number: 1)) { try await waiting.value }
        await #expect(throws: Failure(number: 1)) { try await promise.value }
    }

    @Test func `closures are called once each, in order, and before resolving returns`() {
        let promise = Promise<Int, Never>()
        let calls = Locked<[String]>([])
        for name in ["a", "b", "c"] { promise.whenResolved { _ in calls.withLock { $0.append(name) } } }
        promise.resolve(.success(1))
        promise.resolve(.success(2))
        promise.whenResolved { _ in calls.withLock { $0.append("late") } }
        #expect(calls.withLock { $0 } == ["a", "b", "c", "late"])
    }

    @Test func `cancelling a waiter leaves the promise to the others`() async throws {
        let promise = Promise<Int, any Error>()
        let (cancelled, other) = (Task { try await promise.value }, Task { try await promise.value })
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(promise.outcome == nil)
        promise.resolve(.success(1))
        #expect(try await other.value == 1)
    }

    @Test func `cancelling the promise ends all waiters`() async {
        let promise = Promise<Int, any Error>()
        let waiting = (0..<10).map { _ in Task { try await promise.value } }
        promise.cancel()
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(!promise.resolve(.success(1)))
    }

    @Test func `a waiter that owns the promise cancels it`() async {
        let promise = Promise<Int, any Error>()
        let other = Task { try await promise.value }
        let owner = Task { try await promise.valueOrCancel() }
        owner.cancel()
        await #expect(throws: CancellationError.self) { try await owner.value }
        await #expect(throws: CancellationError.self) { try await other.value }
    }

    @Test func `a result counts for a task that is cancelled before it waits`() async throws {
        let promise = Promise<Int, any Error>()
        promise.resolve(.success(1))
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await promise.value
        }
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test func `a repeated callback counts once, and one that already came is not awaited`() async throws {
        let value = try await Promise<Int, any Error>.value { promise in
            promise.resolve(.success(1))
            promise.resolve(.success(2))
        }
        #expect(value == 1)
    }

    @Test func `a callback that never comes ends with its waiter, and a cancelled one never asks`() async {
        let calls = Locked(0)
        let isAsked = Promise<Void, Never>()
        let call = { @Sendable in
            try await Promise<Int, any Error>.value { _ in
                calls.withLock { $0 += 1 }
                isAsked.resolve(.success(()))
            }
        }
        let waiting = Task { try await call() }
        try? await isAsked.value
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await call()
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func `when many threads resolve, one wins and every waiter sees its result`() async throws {
        for _ in 0..<200 {
            let promise = Promise<Int, any Error>()
            let wins = Locked<[Int]>([])
            async let early = promise.value
            await withTaskGroup { group in
                for number in 0..<4 {
                    group.addTask { if promise.resolve(.success(number)) { wins.withLock { $0.append(number) } } }
                }
            }
            let seen = try await [early, promise.value]
            #expect(wins.withLock { $0.count } == 1 && seen == wins.withLock { $0 + $0 })
        }
    }

    @Test func `waiters that are cancelled while it resolves end once`() async {
        for turns in 0..<100 {
            let promise = Promise<Int, any Error>()
            let tasks = (0..<8).map { _ in Task { try await promise.value } }
            await withTaskGroup { group in
                group.addTask {
                    for _ in 0..<turns % 7 { await Task.yield() }
                    promise.resolve(.success(1))
                }
                for task in tasks.prefix(4) { group.addTask { task.cancel() } }
            }
            for task in tasks.suffix(4) { #expect((try? await task.value) == 1) }
            for task in tasks { _ = await task.result }
        }
    }
}
