import LatchkeyCore

/// How many sockets the process may have open, over all that it listens on and connects to.
///
/// The limit of open files is the process's, so users of sockets take them from here. A reserve is for everything else: files, stores, and
/// libdispatch, which ends the process if it cannot open a file of `/proc` for a moment. A socket that is being closed counts until
/// it is closed.
package final class OpenFileBudget: Sendable {
    /// A holder of sockets that can be closed for others.
    package protocol Holder: AnyObject, Sendable {
        /// How many could be asked for.
        var heldCount: Int { get }
        /// Begins to close the socket that is missed least. It is given back once it is closed.
        /// - Returns: `false` if none can be closed.
        func closeOne() -> Bool
    }

    private struct Holding {
        weak var holder: (any Holder)?
    }

    private struct State {
        var taken = 0
        var holders: [Holding] = []
        var waiting: [@Sendable () -> Void] = []
    }

    /// The purpose of a socket.
    package enum Purpose: Sendable {
        /// A client has connected to the process.
        case client
        /// The process listens, connects elsewhere, or waits for itself. Some sockets are reserved for this, and no client gets them.
        case own
    }

    /// How many files of the limit are never given out here.
    package static let reserve = 64
    /// How many more are for the process's own connections alone.
    package static let ownShare = 32
    /// The process's.
    package static let process = OpenFileBudget()

    private let limit: @Sendable () -> Int
    private let state = Locked(State())

    /// - Parameter limit: how many files may be open. Defaults to the system's limit for the process.
    package init(limit: @escaping @Sendable () -> Int = { OpenFileLimit.current }) { self.limit = limit }

    /// How many there are in all for a purpose.
    package func capacity(for purpose: Purpose) -> Int {
        max(0, limit() - Self.reserve - (purpose == .client ? Self.ownShare : 0))
    }

    /// How many are taken.
    package var taken: Int { state.withLock { $0.taken } }

    /// How many files may be open now.
    package var most: Int { limit() }

    /// The limit that would leave this number of sockets for clients.
    package func limit(leaving count: Int) -> Int { taken + Self.reserve + Self.ownShare + count }

    /// How many are left for a purpose.
    package func left(for purpose: Purpose) -> Int { max(0, capacity(for: purpose) - taken) }

    /// Takes some before they are opened.
    /// - Returns: `false`, and nothing is taken, if there are not that many left.
    package func take(_ count: Int = 1, for purpose: Purpose) -> Bool {
        let capacity = capacity(for: purpose)
        return state.withLock { state in
            guard state.taken + count <= capacity else { return false }
            state.taken += count
            return true
        }
    }

    /// Gives some back that are closed.
    package func give(_ count: Int = 1) {
        state.withLock { $0.taken = max(0, $0.taken - count) }
        wake()
    }

    /// Calls the waiting functions, because some are given back, or could be closed now.
    package func wake() {
        let waiting = state.withLock { state in
            guard !state.waiting.isEmpty else { return [@Sendable () -> Void]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one() }
    }

    /// Registers a function to be called once, when some are given back or could be closed. Called by any thread; must not wait.
    package func afterNextGive(_ call: @escaping @Sendable () -> Void) { state.withLock { $0.waiting.append(call) } }

    /// Adds a holder that can be asked to close sockets, as long as it lives.
    package func add(_ holder: any Holder) {
        state.withLock { state in
            state.holders.removeAll { $0.holder == nil }
            state.holders.append(Holding(holder: holder))
        }
    }

    /// Asks the holder with most closable sockets to close one.
    /// - Returns: `false` if none can be closed now.
    @discardableResult package func makeRoom() -> Bool {
        let holders = state.withLock { $0.holders.compactMap(\.holder) }
        for (_, holder) in holders.map({ ($0.heldCount, $0) }).sorted(by: { $0.0 > $1.0 }) where holder.closeOne() {
            return true
        }
        return false
    }
}

/// Some of a budget's descriptors, as long as it lives.
package final class OpenFileShare: Sendable {
    private let budget: OpenFileBudget
    private let count: Int

    /// - Parameters:
    ///   - count: how many.
    ///   - budget: whose. Defaults to the process's.
    /// - Returns: `nil` if there are not that many left.
    package init?(_ count: Int, of budget: OpenFileBudget = .process) {
        guard budget.take(count, for: .own) else { return nil }
        (self.budget, self.count) = (budget, count)
    }

    deinit { budget.give(count) }
}
