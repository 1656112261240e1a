import LatchkeyCore

/// Who may make a request, and who may send one: a limited number at a time for each place, first come, first served.
///
/// A request has two doors. Behind the first it is made, where the app is asked for its token; behind the second it is sent. Who
/// waits at the second still holds the first. So however many keys are asked for at once, only a few requests with tokens wait
/// for a host, and a session's heartbeat waits behind those few. Nobody who holds the second door waits for another. A request
/// that is given up leaves its slot at once, although a transport may take a moment to end it.
final class HostQueue: Sendable {
    enum Place: Hashable, Sendable {
        /// Where requests of a stage are made, of a host as far as it is known before.
        case making(ContentKeyError.Stage, for: Origin?)
        /// Where requests to a host are in flight.
        case sending(Origin)
    }

    private struct State {
        var lines: [Place: Line] = [:]
        var lastWaiter = 0
    }

    private let limit: Int
    private let state = Locked(State())

    /// - Parameter limit: how many slots a place has; at least 1.
    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of places where somebody is or waits.
    var busyPlaces: Int { state.withLock { $0.lines.count } }

    /// The number of those who wait for a place.
    func waiterCount(at place: Place) -> Int { state.withLock { $0.lines[place]?.waiterCount ?? 0 } }

    /// A slot of a place, as soon as it is this caller's turn.
    /// - Throws: `cancelled` when the task is cancelled while it waits.
    func slot(at place: Place) async throws(ContentKeyError) -> HostSlot {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        do {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { enter(place, number, $0) }
            } onCancel: {
                leave(place, number)
            }
        } catch {
            throw .cancelled
        }
        return HostSlot(place) { [self] in release(place) }
    }

    private func enter(_ place: Place, _ number: Int, _ waiter: CheckedContinuation<Void, any Error>) {
        let result: Result<Void, any Error>? = state.withLock { state in
            // Asked under the lock, so that `leave` either comes before this or finds the waiter.
            if Task.isCancelled { return .failure(CancellationError()) }
            return state.lines[place, default: Line()].enter(number, waiter, limit) ? .success(()) : nil
        }
        if let result { waiter.resume(with: result) }
    }

    private func leave(_ place: Place, _ number: Int) {
        state.withLock { $0.lines[place]?.remove(number) }?.resume(throwing: CancellationError())
    }

    /// The slot goes to the next in line, or is free.
    private func release(_ place: Place) {
        let next = state.withLock { state in
            let next = state.lines[place]?.pass()
            if state.lines[place]?.taken == 0 { state.lines[place] = nil }
            return next
        }
        next?.resume()
    }
}

/// One slot of a place, given back by `release`, or at the latest when it goes away.
final class HostSlot: Sendable {
    let place: HostQueue.Place
    private let giveBack: Locked<(@Sendable () -> Void)?>

    init(_ place: HostQueue.Place, _ giveBack: @escaping @Sendable () -> Void) {
        self.place = place
        self.giveBack = Locked(giveBack)
    }

    deinit { release() }

    /// Gives the slot back; once is enough.
    func release() {
        let giveBack = giveBack.withLock { giveBack in
            defer { giveBack = nil }
            return giveBack
        }
        giveBack?()
    }
}

/// Who is at a place, and who waits for it, by number and in order.
private struct Line {
    private(set) var taken = 0
    private var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    /// The numbers of the waiters as they came; those before `head` have had their turn, and some behind it have left.
    private var order: [Int] = []
    private var head = 0

    var waiterCount: Int { waiters.count }

    /// - Returns: whether there was a slot; else the waiter stands in the line.
    mutating func enter(_ number: Int, _ waiter: CheckedContinuation<Void, any Error>, _ limit: Int) -> Bool {
        guard taken >= limit else {
            taken += 1
            return true
        }
        waiters[number] = waiter
        order.append(number)
        return false
    }

    mutating func remove(_ number: Int) -> CheckedContinuation<Void, any Error>? {
        waiters.removeValue(forKey: number)
    }

    /// Takes the slot from who had it.
    /// - Returns: who has it now; nil where nobody waits.
    mutating func pass() -> CheckedContinuation<Void, any Error>? {
        while head < order.count {
            head += 1
            guard let next = waiters.removeValue(forKey: order[head - 1]) else { continue }
            // Not each time, so that a turn costs the same however long the line is.
            if head * 2 > order.count {
                order.removeFirst(head)
                head = 0
            }
            return next
        }
        order = []
        head = 0
        taken -= 1
        return nil
    }
}
