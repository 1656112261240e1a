import LatchkeyCore
import LatchkeySystem
import Testing

/// One count of a process's sockets.
@Suite(.timeLimit(.minutes(1))) struct OpenFileBudgetTests {
    private final class Holder: OpenFileBudget.Holder {
        let heldCount: Int
        private let canClose: Bool
        private let state = Locked(0)
        var closed: Int { state.withLock { $0 } }

        init(_ heldCount: Int, canClose: Bool = true) { (self.heldCount, self.canClose) = (heldCount, canClose) }

        func closeOne() -> Bool {
            if canClose { state.withLock { $0 += 1 } }
            return canClose
        }
    }

    @Test func `no caller gets the reserve, and clients not the process's own share`() {
        let budget = OpenFileBudget { 100 }
        var clients = 0
        while budget.take(for: .client) { clients += 1 }
        #expect(clients == 100 - OpenFileBudget.reserve - OpenFileBudget.ownShare)
        var own = 0
        while budget.take(for: .own) { own += 1 }
        #expect(own == OpenFileBudget.ownShare)
        #expect(budget.taken == 100 - OpenFileBudget.reserve)
        budget.give(own)
        #expect(!budget.take(for: .client))
        budget.give(clients)
        #expect(budget.taken == 0)
    }

    @Test func `a limit that falls leaves no files`() {
        let budget = OpenFileBudget { 10 }
        #expect(budget.capacity(for: .own) == 0)
        #expect(!budget.take(for: .own))
    }

    @Test func `a waiter is called once, when some are given back`() {
        let budget = OpenFileBudget { 100 }
        let calls = Locked(0)
        budget.afterNextGive { calls.withLock { $0 += 1 } }
        #expect(calls.withLock { $0 } == 0)
        budget.give()
        budget.give()
        #expect(calls.withLock { $0 } == 1)
    }

    @Test func `the largest willing holder makes room`() {
        let budget = OpenFileBudget { 100 }
        let (few, many, most) = (Holder(1), Holder(5), Holder(9, canClose: false))
        for one in [few, many, most] { budget.add(one) }
        #expect(budget.makeRoom())
        #expect([few.closed, many.closed, most.closed] == [0, 1, 0])
        #expect(!OpenFileBudget { 100 }.makeRoom())
    }

    @Test func `a share is given back when it ends`() {
        let budget = OpenFileBudget { 100 }
        var share = OpenFileShare(30, of: budget)
        #expect(share != nil && budget.taken == 30)
        #expect(OpenFileShare(30, of: budget) == nil)
        share = nil
        #expect(budget.taken == 0)
    }
}
