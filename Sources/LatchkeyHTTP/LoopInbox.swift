import LatchkeyCore

/// Other threads' messages to a loop, and the way to wake the thread that runs it.
///
/// A thread does not fall asleep if anything has come since it last looked.
final class LoopInbox: Sendable {
    private struct State {
        var connections: [ClientConnection] = []
        var mayAccept = false
        var endsListening = false
        var sleeper: ThreadAlarm?
        var isClosed = false

        var isEmpty: Bool { connections.isEmpty && !mayAccept && !endsListening }
    }

    private let state = Locked(State())

    /// Continues a connection. Any thread may call it.
    func goOn(_ connection: ClientConnection) {
        let sleeper = state.withLock { state -> ThreadAlarm? in
            guard !state.isClosed else { return nil }
            state.connections.append(connection)
            return state.sleeper
        }
        sleeper?.ring()
    }

    /// No thread runs the loop any more: drops all messages, past and future.
    func close() { state.withLock { ($0.isClosed, $0.connections) = (true, []) } }

    /// There may be room for new connections again. Any thread may call it.
    func accept() { note { $0.mayAccept = true } }

    /// The connections that wait to be accepted are the last ones. Any thread may call it.
    func endListening() { note { $0.endsListening = true } }

    private func note(_ change: (inout State) -> Void) {
        let sleeper = state.withLock { state in
            change(&state)
            return state.sleeper
        }
        sleeper?.ring()
    }

    /// The messages since the last call.
    func take() -> (connections: [ClientConnection], mayAccept: Bool, endsListening: Bool) {
        state.withLock { state in
            guard !state.isEmpty else { return ([], false, false) }
            defer { (state.connections, state.mayAccept, state.endsListening) = ([], false, false) }
            return (state.connections, state.mayAccept, state.endsListening)
        }
    }

    /// The thread is about to sleep.
    /// - Returns: `false` if something has come.
    func beginSleep(_ alarm: ThreadAlarm) -> Bool {
        state.withLock {
            guard $0.isEmpty else { return false }
            $0.sleeper = alarm
            return true
        }
    }

    /// The thread no longer sleeps.
    func endSleep() { state.withLock { $0.sleeper = nil } }
}
