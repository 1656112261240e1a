import LatchkeyCore
import LatchkeyTransport

/// Limits how many requests to a host are built and sent concurrently; first come, first served.
///
/// A request takes two permits: one to build it, when the app is asked for its token, and one to send it. A request that waits for the
/// second permit keeps the first. So no matter how many keys are requested together, only a few requests with tokens wait for a host, and a
/// session's heartbeat waits behind those few. No request that has its second permit waits for another. A cancelled request returns its
/// permits immediately, although a transport may take a moment to end it.
final class HostLimiter: Sendable {
    /// The activity that a permit allows.
    enum Activity: Hashable, Sendable {
        /// Building a request of a stage, for a host if it is already known.
        case building(ContentKeyError.Stage, for: Origin?)
        /// Sending a request to a host.
        case sending(to: Origin)
    }

    fileprivate struct State {
        var lines: [Activity: Line] = [:]
        var lastWaiter = 0
    }

    private let limit: Int
    private let state = Locked(State())

    /// - Parameter limit: the number of permits per activity; at least 1.
    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of activities that are running or awaited.
    var activityCount: Int { state.withLock { $0.lines.count } }

    /// The number of callers that wait for a permit.
    func waiterCount(for activity: Activity) -> Int { state.withLock { $0.lines[activity]?.waiters.count ?? 0 } }

    /// Waits for a permit.
    /// - Throws: `cancelled` if the task is cancelled while it waits.
    func permit(for activity: Activity) async throws(ContentKeyError) -> HostPermit {
        let turn = Promise<Void, any Error>()
        let number = state.withLock { state in
            state.lastWaiter += 1
            if state.lines[activity, default: Line()].enter(state.lastWaiter, turn, limit) {
                turn.resolve(.success(()))
            }
            return state.lastWaiter
        }
        do {
            try await turn.valueOrCancel()
        } catch {
            state.withLock { _ = $0.lines[activity]?.waiters.removeValue(forKey: number) }
            throw .cancelled
        }
        let permit = HostPermit(activity) { [self] in returnPermit(for: activity) }
        // A permit that arrived together with the cancellation is returned.
        if Task.isCancelled { throw .cancelled }
        return permit
    }

    /// Passes a permit to the next waiter that still wants it.
    private func returnPermit(for activity: Activity) {
        while let next = state.withLock({ $0.next(for: activity) }) {
            if next.resolve(.success(())) { return }
        }
    }
}

extension HostLimiter.State {
    /// The next waiter; `nil` if there is none, and the permit is free.
    fileprivate mutating func next(for activity: HostLimiter.Activity) -> Promise<Void, any Error>? {
        let next = lines[activity]?.pass()
        if lines[activity]?.taken == 0 { lines[activity] = nil }
        return next
    }
}

/// A permit, returned by `release()`, or at the latest when the object is deallocated.
final class HostPermit: Sendable {
    let activity: HostLimiter.Activity
    private let returned = Promise<Void, Never>()

    init(_ activity: HostLimiter.Activity, _ giveBack: @escaping @Sendable () -> Void) {
        self.activity = activity
        returned.whenResolved { _ in giveBack() }
    }

    deinit { release() }

    /// Returns the permit; calling it again does nothing.
    func release() { returned.resolve(.success(())) }
}

/// The callers that have a permit for an activity, and the waiting callers, by number and in order.
fileprivate struct Line {
    private(set) var taken = 0
    var waiters: [Int: Promise<Void, any Error>] = [:]
    /// The numbers of the waiters in order of arrival; some have left.
    private var order = Deque<Int>()

    /// - Returns: whether there is a free permit; if not, the caller waits in the line.
    mutating func enter(_ number: Int, _ waiter: Promise<Void, any Error>, _ limit: Int) -> Bool {
        guard taken >= limit else {
            taken += 1
            return true
        }
        waiters[number] = waiter
        order.append(number)
        return false
    }

    /// Takes the permit from its owner.
    /// - Returns: the waiter that owns it now, or `nil`.
    mutating func pass() -> Promise<Void, any Error>? {
        while let number = order.popFirst() {
            if let next = waiters.removeValue(forKey: number) { return next }
        }
        taken -= 1
        return nil
    }
}
