import Foundation
import LatchkeyCore
import LatchkeyHTTP
import Testing

@Suite(.timeLimit(.minutes(1))) struct PackagerPoolTests {
    @Test func `a limited number of requests wait, and one more when one ends`() {
        let pool = PackagerPool(most: 2)
        #expect(pool.begin() && pool.begin())
        #expect(!pool.begin())
        pool.end()
        #expect(pool.begin())
        #expect(!pool.begin())
    }

    #if os(Linux)
        @Test func `players' threads precede packagers'`() async {
            let niceness = { @Sendable in getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
            let usual = await WorkerPool(threads: 1).run(niceness)
            let last = await PackagerPool().threads.run(niceness)
            #expect((last ?? 0) == min(19, (usual ?? 0) + 15))
        }
    #endif
}
