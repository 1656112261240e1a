import CMicroHTTPD
import LatchkeyCore

/// Sees to it that a thread that runs libmicrohttpd does not fall asleep over a connection that was just resumed.
///
/// libmicrohttpd 0.9.75 takes its own signal for a resumed connection away after it has looked for such connections. Resumed between the two,
/// a connection would wait for the next event of another one.
final class LeaderSleep: Sendable {
    private struct State {
        var hasResumed = false
        var sleeper: ThreadAlarm?
    }

    private let state = Locked(State())

    /// libmicrohttpd is about to be run.
    func willRun() { state.withLock { $0.hasResumed = false } }

    /// The thread is about to sleep.
    /// - Returns: `false` if libmicrohttpd has to be run before.
    func begin(_ alarm: ThreadAlarm) -> Bool {
        state.withLock {
            guard !$0.hasResumed else { return false }
            $0.sleeper = alarm
            return true
        }
    }

    /// The thread sleeps no more.
    func end() { state.withLock { $0.sleeper = nil } }

    /// A connection was resumed. Any thread may call it.
    func hasResumed() {
        let sleeper = state.withLock {
            $0.hasResumed = true
            return $0.sleeper
        }
        sleeper?.ring()
    }
}

/// Has libmicrohttpd go on with a suspended connection. Any thread may call it, once for each time that it was suspended.
func resumeConnection(_ connection: OpaquePointer) {
    // Read before, because a connection that goes on may end.
    let sleep = latchkey_mhd_context(connection).map {
        Unmanaged<ClientConnection>.fromOpaque($0).takeUnretainedValue().leaderSleep
    }
    MHD_resume_connection(connection)
    sleep?.hasResumed()
}
