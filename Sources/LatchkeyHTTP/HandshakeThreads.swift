import Foundation

/// Does the steps of handshakes, whose signatures take long, on separate threads. Addresses take turns: one that begins many handshakes
/// does not delay others.
// Sound because everything is touched under `condition` only; HTTPServerTurnTests covers it.
final class HandshakeThreads: @unchecked Sendable {
    let count: Int
    private let condition = NSCondition()
    private var waiting = OwnerTurns<NetworkAddress, @Sendable () -> Void>()
    private var running: Int
    private var isEnding = false

    /// Starts the threads.
    init(_ count: Int) {
        (self.count, running) = (count, count)
        for number in 0..<count {
            let thread = Thread { [self] in
                while let step = next() { step() }
                condition.withLock {
                    running -= 1
                    condition.broadcast()
                }
            }
            thread.name = "latchkey-tls-\(number)"
            thread.start()
        }
    }

    /// Adds a step of a handshake with an address.
    func add(of address: NetworkAddress, _ step: @escaping @Sendable () -> Void) {
        condition.withLock {
            guard !isEnding else { return }
            waiting.append(step, of: address)
            condition.signal()
        }
    }

    /// Ends the threads, after their current work. Blocks until then.
    func end() {
        condition.withLock {
            (isEnding, waiting) = (true, OwnerTurns())
            condition.broadcast()
            while running > 0 { condition.wait() }
        }
    }

    private func next() -> (@Sendable () -> Void)? {
        condition.withLock {
            while waiting.isEmpty, !isEnding { condition.wait() }
            return waiting.take(newest: false)
        }
    }
}
