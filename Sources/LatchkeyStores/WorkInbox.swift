import Foundation

/// The queue of one thread's work.
// Sound because everything is touched under `condition` only; the conformance suite adds from many tasks concurrently.
final class WorkInbox<Work: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private let limit: Int
    private var waiting: [Work] = []
    private var isClosed = false

    /// - Parameter limit: the most waiting pieces.
    init(limit: Int) { self.limit = limit }

    /// Adds a piece of work.
    /// - Returns: false if too many are waiting, or the inbox is closed.
    func add(_ work: Work) -> Bool {
        condition.withLock {
            guard !isClosed, waiting.count < limit else { return false }
            waiting.append(work)
            condition.signal()
            return true
        }
    }

    /// Waits for work.
    /// - Returns: the waiting work, in order; `nil` once the inbox is closed and empty.
    func next(atMost count: Int) -> [Work]? {
        condition.withLock {
            while waiting.isEmpty {
                if isClosed { return nil }
                condition.wait()
            }
            let next = Array(waiting.prefix(count))
            waiting.removeFirst(next.count)
            return next
        }
    }

    /// Refuses work from now on.
    package func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }
}
