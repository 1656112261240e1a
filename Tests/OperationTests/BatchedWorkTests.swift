import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyHTTP

@Suite(.timeLimit(.minutes(5))) struct BatchedWorkTests {
    /// A pool of one thread, on a clock that stands still, and work that reports how much of it was done together.
    private final class Stage: Sendable {
        let pool: WorkerPool
        let calls = Locked<[[Int]]>([])
        let work: BatchedWork<Int, Int>
        private let gate = DispatchSemaphore(value: 0)
        private let begun = Promise<Void, any Error>()
        private let first = Locked<Task<Void, Never>?>(nil)

        init(_ rules: AdmissionRules = AdmissionRules()) {
            pool = WorkerPool(threads: 1, rules: rules, timekeeper: ManualTimekeeper(date: Date()))
            let calls = calls
            work = BatchedWork(least: 3, most: 8) { inputs in
                calls.withLock { $0.append(inputs) }
                return inputs.map { $0 * 2 }
            }
        }

        /// Keeps the thread busy.
        func hold() async throws {
            first.withLock { first in
                first = Task { [pool, gate, begun] in
                    _ = await pool.run(.start, session: "first") {
                        begun.resolve(.success(()))
                        gate.wait()
                    }
                }
            }
            try await begun.value
        }

        /// Adds a piece of work, and returns when it is waiting.
        func add(_ number: Int, _ lane: AdmissionLane = .start) async -> Task<Result<Int, AdmissionRefusal>, Never> {
            let waiting = pool.admission.waiting
            let task = Task { [pool, work] in await pool.run(lane, session: "\(number)", work, number) }
            while pool.admission.waiting == waiting { await Task.yield() }
            return task
        }

        func letGo() { gate.signal() }

        var sizes: [Int] { calls.withLock { $0.map(\.count) } }
    }

    @Test(arguments: [
        (1, [1]), (2, [1, 1]), (3, [3]), (8, [8]), (9, [8, 1]), (11, [8, 3]), (16, [8, 8]),
    ])
    func `a thread does waiting pieces together, and too few pieces one by one`(count: Int, sizes: [Int])
        async throws
    {
        let stage = Stage()
        try await stage.hold()
        var tasks: [Task<Result<Int, AdmissionRefusal>, Never>] = []
        for number in 0..<count { tasks.append(await stage.add(number)) }
        stage.letGo()
        for (number, task) in tasks.enumerated() { #expect(await task.value == .success(number * 2)) }
        #expect(stage.sizes == sizes)
        // The thread is free a moment after it has answered.
        while stage.pool.admission.busyThreads > 0 { await Task.yield() }
    }

    // The clock is stopped: a wait for a time would never end.
    @Test func `a piece does not wait for others to come`() async {
        let stage = Stage()
        #expect(await stage.pool.run(.renewal, session: "a", stage.work, 21) == .success(42))
        let pool = stage.pool
        await pool.task { [stage] in
            let caller = pthread_self()
            let result = await pool.run(.start, session: "a", stage.work, 1)
            #expect(result == .success(2))
            #expect(pthread_equal(caller, pthread_self()) != 0)
        }.value
        #expect(stage.sizes == [1, 1])
    }

    @Test func `a cancelled piece is left out, others are not`() async throws {
        let stage = Stage()
        try await stage.hold()
        var tasks: [Task<Result<Int, AdmissionRefusal>, Never>] = []
        for number in 0..<5 { tasks.append(await stage.add(number)) }
        tasks[2].cancel()
        #expect(await tasks[2].value.isSuccess == false)
        stage.letGo()
        for number in [0, 1, 3, 4] { #expect(await tasks[number].value == .success(number * 2)) }
        #expect(stage.calls.withLock { $0 } == [[0, 1, 3, 4]])
    }

    @Test func `all waiting pieces may be gone`() async throws {
        let stage = Stage()
        try await stage.hold()
        var tasks: [Task<Result<Int, AdmissionRefusal>, Never>] = []
        for number in 0..<4 { tasks.append(await stage.add(number)) }
        for task in tasks {
            task.cancel()
            #expect(await task.value.isSuccess == false)
        }
        let last = await stage.pool.run(.start, session: "a", stage.work, 7, after: stage.letGo)
        #expect(last == .success(14))
        #expect(stage.sizes == [1])
    }

    @Test func `pieces beyond the limit are refused, and the rest is done together`() async throws {
        let stage = Stage(AdmissionRules(most: 4))
        try await stage.hold()
        var tasks: [Task<Result<Int, AdmissionRefusal>, Never>] = []
        for number in 0..<4 { tasks.append(await stage.add(number)) }
        guard case .failure(let refusal) = await stage.pool.run(.start, session: "e", stage.work, 4) else {
            return #expect(Bool(false)) as Void
        }
        #expect(refusal.why == .full)
        stage.letGo()
        for task in tasks { #expect(await task.value.isSuccess) }
        #expect(stage.sizes == [4])
    }

    @Test func `work of another kind that is next is not skipped`() async throws {
        let stage = Stage()
        let order = Locked<[String]>([])
        try await stage.hold()
        var tasks: [Task<Result<Int, AdmissionRefusal>, Never>] = []
        for number in 0..<3 { tasks.append(await stage.add(number)) }
        let waiting = stage.pool.admission.waiting
        let other = Task { [pool = stage.pool] in
            await pool.run(.start, session: "other") { order.withLock { $0.append("other after \(stage.sizes)") } }
        }
        while stage.pool.admission.waiting == waiting { await Task.yield() }
        for number in 3..<6 { tasks.append(await stage.add(number)) }
        stage.letGo()
        for task in tasks { #expect(await task.value.isSuccess) }
        #expect(await other.value.isSuccess)
        #expect(stage.sizes == [3, 3])
        #expect(order.withLock { $0 } == ["other after [3]"])
    }
}

extension WorkerPool {
    /// Adds a piece, and does something before its value is waited for.
    fileprivate func run(
        _ lane: AdmissionLane, session: String, _ work: BatchedWork<Int, Int>, _ input: Int,
        after: @Sendable () -> Void
    ) async -> Result<Int, AdmissionRefusal> {
        let waiting = admission.waiting
        let task = Task { await run(lane, session: session, work, input) }
        while admission.waiting == waiting { await Task.yield() }
        after()
        return await task.value
    }
}
