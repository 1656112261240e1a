import LatchkeyCore
import LatchkeyHTTP
import Testing

@Suite(.timeLimit(.minutes(5))) struct WorkerPoolTests {
    @Test func `every piece of work runs once`() async {
        let pool = WorkerPool(threads: 4, waiting: 2_000)
        let done = Locked(0)
        await withTaskGroup(of: Int?.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    await pool.run {
                        done.withLock { $0 += 1 }
                        return number
                    }
                }
            }
            let sum = await group.reduce(0) { $0 + ($1 ?? -1_000_000) }
            #expect(sum == 1_999_000)
        }
        #expect(done.withLock { $0 } == 2_000)
    }

    @Test func `work in the queue is done even if the pool is dropped`() async {
        var pool: WorkerPool? = WorkerPool(threads: 1)
        let result = Task { [pool] in await pool?.run { 7 } }
        pool = nil
        #expect(await result.value == 7)
    }
}
