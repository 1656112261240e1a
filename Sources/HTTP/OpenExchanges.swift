import Foundation

/// The exchanges between the head of a request and the last byte of its reply.
// Sound because everything is touched under `lock` only; the server's tests run under the thread sanitizer.
final class OpenExchanges: @unchecked Sendable {
    private let lock = NSLock()
    private var exchanges: [ObjectIdentifier: (exchange: Exchange, due: Duration?)] = [:]
    private var closed = false
    private var isWatched = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// What came of adding an exchange.
    enum Addition { case added, addedUnwatched, refused }

    /// Notes a new exchange and when it is due, unless `close` was called.
    /// - Returns: `addedUnwatched` where nobody waits for due times; whoever gets it has to, with `nextDue`.
    func add(_ exchange: Exchange, due: Duration) -> Addition {
        lock.withLock {
            guard !closed else { return .refused }
            exchanges[ObjectIdentifier(exchange)] = (exchange, due)
            defer { isWatched = true }
            return isWatched ? .added : .addedUnwatched
        }
    }

    /// When the next exchange is due; nil, and the watch over, where none is.
    func nextDue() -> Duration? {
        lock.withLock {
            let next = exchanges.values.compactMap(\.due).min()
            isWatched = next != nil
            return next
        }
    }

    /// The exchanges that are due; each is given once.
    func takeOverdue(at now: Duration) -> [Exchange] {
        lock.withLock {
            let overdue = exchanges.filter { $0.value.due.map { $0 <= now } ?? false }
            for id in overdue.keys { exchanges[id]?.due = nil }
            return overdue.values.map(\.exchange)
        }
    }

    /// Forgets an exchange; the last one lets those go on who wait for none to be open.
    func remove(_ exchange: Exchange) {
        let ready = lock.withLock {
            exchanges[ObjectIdentifier(exchange)] = nil
            return exchanges.isEmpty ? takeWaiters() : []
        }
        for waiter in ready { waiter.resume() }
    }

    /// Whether no further exchanges are taken.
    var isClosed: Bool { lock.withLock { closed } }

    /// Takes no further exchanges.
    func close() { lock.withLock { closed = true } }

    /// Gives every open exchange the same answer, unless it has one already.
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

    /// Lets those go on who wait, though exchanges are open.
    func giveUp() {
        let ready = lock.withLock { takeWaiters() }
        for waiter in ready { waiter.resume() }
    }

    private func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        defer { waiters = [] }
        return waiters
    }
}
