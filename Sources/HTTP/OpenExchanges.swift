import Foundation

/// The exchanges between the head of a request and the last byte of its reply.
// Sound because everything is touched under `lock` only; the server's tests run under the thread sanitizer.
final class OpenExchanges: @unchecked Sendable {
    private let lock = NSLock()
    private var exchanges: [ObjectIdentifier: Exchange] = [:]
    private var isClosed = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Notes a new exchange.
    /// - Returns: false, and nothing noted, once `close` was called.
    func add(_ exchange: Exchange) -> Bool {
        lock.withLock {
            guard !isClosed else { return false }
            exchanges[ObjectIdentifier(exchange)] = exchange
            return true
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

    /// Takes no further exchanges.
    func close() { lock.withLock { isClosed = true } }

    /// Gives every open exchange the same answer, unless it has one already.
    func answerAll(with response: HTTPResponse) {
        let open = lock.withLock { Array(exchanges.values) }
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
