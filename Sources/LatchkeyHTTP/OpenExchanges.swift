import Foundation

/// The open exchanges: from the head of a request to the last byte of its reply.
// Sound because everything is touched under `lock` only; HTTPServerLifeTests covers it.
final class OpenExchanges: @unchecked Sendable {
    private let lock = NSLock()
    private var exchanges: [ObjectIdentifier: (exchange: HTTPExchange, due: Duration?)] = [:]
    private var closed = false
    private var isWatched = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// The result of adding an exchange.
    enum Addition { case added, addedUnwatched, refused }

    /// Adds an exchange with its deadline, unless `close` was called.
    /// - Returns: `addedUnwatched` if nobody watches the deadlines; then the caller has to, with `nextDue`.
    func add(_ exchange: HTTPExchange, due: Duration) -> Addition {
        lock.withLock {
            guard !closed else { return .refused }
            exchanges[ObjectIdentifier(exchange)] = (exchange, due)
            defer { isWatched = true }
            return isWatched ? .added : .addedUnwatched
        }
    }

    /// The next deadline; `nil`, which ends the watch, if there is none.
    func nextDue() -> Duration? {
        lock.withLock {
            let next = exchanges.values.compactMap(\.due).min()
            isWatched = next != nil
            return next
        }
    }

    /// The exchanges whose deadline has passed; each is returned once.
    func takeOverdue(at now: Duration) -> [HTTPExchange] {
        lock.withLock {
            let overdue = exchanges.filter { $0.value.due.map { $0 <= now } ?? false }
            for id in overdue.keys { exchanges[id]?.due = nil }
            return overdue.values.map(\.exchange)
        }
    }

    /// Removes an exchange. Removing the last one ends `untilEmpty`.
    func remove(_ exchange: HTTPExchange) {
        let ready = lock.withLock {
            exchanges[ObjectIdentifier(exchange)] = nil
            return exchanges.isEmpty ? takeWaiters() : []
        }
        for waiter in ready { waiter.resume() }
    }

    /// Whether further exchanges are refused.
    var isClosed: Bool { lock.withLock { closed } }

    /// Refuses further exchanges, and ends bodies that would go on for ever.
    func close() {
        let open = lock.withLock {
            closed = true
            return exchanges.values.map(\.exchange)
        }
        for exchange in open { exchange.endStream() }
    }

    /// Answers every open exchange that has no answer.
    func answerAll(with response: HTTPResponse) {
        let open = lock.withLock { exchanges.values.map(\.exchange) }
        for exchange in open { exchange.answer(with: response) }
    }

    /// Waits until no exchange is open, or until `giveUp`.
    func untilEmpty() async {
        await withCheckedContinuation { waiter in
            let isEmpty = lock.withLock {
                if !exchanges.isEmpty { waiters.append(waiter) }
                return exchanges.isEmpty
            }
            if isEmpty { waiter.resume() }
        }
    }

    /// Ends `untilEmpty` though exchanges are open.
    func giveUp() {
        let ready = lock.withLock { takeWaiters() }
        for waiter in ready { waiter.resume() }
    }

    private func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        defer { waiters = [] }
        return waiters
    }
}
