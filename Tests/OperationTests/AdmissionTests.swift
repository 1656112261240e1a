import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyHTTP
@testable import LatchkeyLicensing

@Suite(.timeLimit(.minutes(5))) struct AdmissionTests {
    /// Work that keeps a thread busy until it is let go.
    private final class Hold: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let begun = Promise<Void, any Error>()

        func work() {
            begun.resolve(.success(()))
            gate.wait()
        }

        func untilBegun() async throws { try await begun.value }
        func letGo() { gate.signal() }
    }

    @Test func `work of many tasks is done once each, on a few threads`() async throws {
        let pool = WorkerPool(threads: 4, rules: AdmissionRules(expectedTime: .microseconds(1)))
        let results = await withTaskGroup(of: Result<Int, AdmissionRefusal>.self) { group in
            for number in 0..<1_000 {
                group.addTask { await pool.run(AdmissionLane.allCases[number % 3], session: "\(number)") { number } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let numbers = results.compactMap { try? $0.get() }
        #expect(Set(numbers).count == numbers.count)
        #expect(numbers.count + results.count { (try? $0.get()) == nil } == 1_000)
        #expect(numbers.count >= 100)
    }

    @Test func `a task on the pool's threads works immediately if nothing else waits, and it counts`() async {
        let rules = AdmissionRules(expectedTime: .seconds(10))
        let pool = WorkerPool(threads: 2, rules: rules)
        let waits = Locked<[Duration]>([])
        pool.observe(AdmissionObserver(waited: { wait in waits.withLock { $0.append(wait) } }))
        let seen = Locked<[Int]>([])
        await pool.task {
            let caller = pthread_self()
            let work = { @Sendable () -> Bool in
                seen.withLock { $0.append(pool.admission.busyThreads) }
                return pthread_equal(pthread_self(), caller) != 0
            }
            let isHere = await pool.run(.start, session: "a", work)
            seen.withLock { $0.append((try? isHere.get()) == true ? 100 : -100) }
        }.value
        #expect(seen.withLock { $0 } == [1, 100])
        #expect(waits.withLock { $0 } == [.zero])
        #expect(pool.admission.busyThreads == 0)
        #expect(pool.admission.serviceTime < rules.expectedTime)
    }

    @Test func `work uses its lane while a job waits for the thread, and is refused once the pool drains`() async {
        let pool = WorkerPool(threads: 1, rules: AdmissionRules())
        let order = Locked<[String]>([])
        await pool.task {
            let job = pool.task { order.withLock { $0.append("job") } }
            _ = await pool.run(.start, session: "a") { order.withLock { $0.append("work") } }
            await job.value
            pool.drain()
            guard case .failure(let refusal) = await pool.run(.start, session: "a", {}) else { return }
            order.withLock { $0.append(refusal.why.rawValue) }
        }.value
        #expect(order.withLock { $0 } == ["job", "work", "draining"])
    }

    @Test func `a full pool refuses fast, and the metrics say so`() async throws {
        let pool = WorkerPool(threads: 1, rules: AdmissionRules(most: 1))
        let metrics = ServerMetrics(version: "1")
        metrics.show(pool)
        let hold = Hold()
        async let first: Result<Void, AdmissionRefusal> = pool.run(.start, session: "a") { hold.work() }
        try await hold.untilBegun()
        let waiting = Task { await pool.run(.start, session: "b") { 2 } }
        while pool.admission.waiting == 0 { await Task.yield() }
        guard case .failure(let refusal) = await pool.run(.start, session: "c", { 3 }) else {
            return #expect(Bool(false)) as Void
        }
        #expect(refusal.why == .full)
        #expect(1...2 ~= refusal.retryAfter)
        let text = metrics.text(.prometheus)
        #expect(text.contains("latchkey_pool_waiting 1\n"))
        #expect(text.contains("latchkey_pool_busy_threads 1\n"))
        #expect(text.contains("latchkey_pool_limit 1\n"))
        #expect(text.contains("latchkey_shed_total{lane=\"start\",why=\"full\"} 1\n"))
        hold.letGo()
        #expect(await waiting.value == .success(2))
        #expect(await first.isSuccess)
        #expect(metrics.text(.prometheus).contains("latchkey_pool_wait_seconds_count 2\n"))
    }

    @Test func `a departed caller costs no work`() async throws {
        let pool = WorkerPool(threads: 1, rules: AdmissionRules())
        let hold = Hold()
        async let first: Result<Void, AdmissionRefusal> = pool.run(.start, session: "a") { hold.work() }
        try await hold.untilBegun()
        let isDone = Locked(false)
        let gone = Task { await pool.run(.start, session: "b") { isDone.withLock { $0 = true } } }
        while pool.admission.waiting == 0 { await Task.yield() }
        gone.cancel()
        // It waits for no thread.
        #expect(await gone.value.isSuccess == false)
        hold.letGo()
        #expect(await first.isSuccess)
        #expect(isDone.withLock { $0 } == false)
    }

    @Test func `a draining pool finishes its work and accepts none`() async throws {
        let pool = WorkerPool(threads: 1, rules: AdmissionRules())
        let hold = Hold()
        async let first: Result<Void, AdmissionRefusal> = pool.run(.start, session: "a") { hold.work() }
        try await hold.untilBegun()
        pool.drain()
        #expect(
            await pool.run(.start, session: "b") { 1 }
                == .failure(AdmissionRefusal(lane: .start, why: .draining, retryAfter: 1)))
        hold.letGo()
        #expect(await first.isSuccess)
    }

    @Test func `work with and without a lane runs on the same threads`() async throws {
        let pool = WorkerPool(threads: 1, rules: AdmissionRules())
        let thread = { @Sendable in ObjectIdentifier(Thread.current) }
        let one = try await pool.run(.renewal, session: "a") { thread() }.get()
        let other = await pool.run { thread() }
        #expect(other == one)
    }
}

extension Result {
    var isSuccess: Bool { if case .success = self { true } else { false } }
}
