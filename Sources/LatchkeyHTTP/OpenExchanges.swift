import Foundation

/// The open exchanges: from the head of a request to the last byte of its reply.
// Sound because everything is touched under `lock` only; HTTPServerLifeTests covers it.
final class OpenExchanges: @unchecked Sendable {
    private let lock = NSLock()
    private var exchanges: [ObjectIdentifier: (exchange: HTTPExchange, due: Duration?)] = [:]
    private var closed = false
    private var streamsEnd = false
    private var isGivenUp = false
    private var isWatched = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// The result of adding an exchange.
    enum Addition { case added, addedUnwatched, refused }

    /// Adds an exchange with its deadline, unless `close` was called.
    /// - Returns: `addedUnwatched` if the deadlines are unwatched; then the caller has to watch them, with `nextDue`.
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

    /// Whether endless bodies end.
    var endsStreams: Bool { lock.withLock { streamsEnd } }

    /// Ends endless bodies, and those of further exchanges.
    func endStreams() {
        let open = lock.withLock {
            streamsEnd = true
            return exchanges.values.map(\.exchange)
        }
        for exchange in open { exchange.endStream() }
    }

    /// Refuses further exchanges, and answers every open one that has no answer with a refusal.
    func close(with refusal: HTTPRefusal) {
        let open = lock.withLock {
            closed = true
            return exchanges.values.map(\.exchange)
        }
        for exchange in open { exchange.answer(with: refusal) }
    }

    /// Waits until no exchange is open, or until `giveUp`.
    func untilEmpty() async {
        await withCheckedContinuation { waiter in
            let isEmpty = lock.withLock {
                let isEmpty = exchanges.isEmpty || isGivenUp
                if !isEmpty { waiters.append(waiter) }
                return isEmpty
            }
            if isEmpty { waiter.resume() }
        }
    }

    /// Ends `untilEmpty` though exchanges are open.
    func giveUp() {
        let ready = lock.withLock {
            isGivenUp = true
            return takeWaiters()
        }
        for waiter in ready { waiter.resume() }
    }

    private func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        defer { waiters = [] }
        return waiters
    }
}
