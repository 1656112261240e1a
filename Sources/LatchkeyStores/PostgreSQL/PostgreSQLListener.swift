import LatchkeyCore
import LatchkeySystem

/// A notification of PostgreSQL.
struct PostgreSQLNotification: Sendable {
    let channel, text: String
}

/// The channels on which a connection listens.
struct PostgreSQLChannels: Sendable {
    let names: [String]
    /// Takes a notification; `nil` when some may have been missed.
    let hear: @Sendable (PostgreSQLNotification?) -> Void
}

/// Listens for changes of keys by all nodes, over its own connection.
///
/// A connection that gets no notifications looks like one without any to get: its server may hang, or may no longer be the primary. Only a
/// notification that arrives proves that changes do.
final class PostgreSQLListener: Sendable {
    private let setup: PostgreSQLLane.Setup
    private let lane: Locked<PostgreSQLLane>
    /// A channel that no other node listens on, and the wait for a notification there.
    private let own: String
    private let awaited: Locked<Promise<Void, any Error>?>

    /// - Parameter hear: takes a change's text; `nil` when some may have been missed.
    init(_ setup: PostgreSQLLane.Setup, hear: @escaping @Sendable (String?) -> Void) throws(StoreError) {
        let own = "latchkey_listener_\(UInt64.random(in: 0 ... .max))"
        let awaited = Locked<Promise<Void, any Error>?>(nil)
        var setup = setup
        setup.channels = PostgreSQLChannels(names: ["latchkey_keys", own]) { notification in
            guard notification?.channel == own else { return hear(notification?.text) }
            let waiting = awaited.withLock { awaited in
                defer { awaited = nil }
                return awaited
            }
            waiting?.resolve(.success(()))
        }
        (self.setup, self.own, self.awaited) = (setup, own, awaited)
        lane = Locked(try PostgreSQLLane(setup, name: "listener"))
    }

    func close() { lane.withLock { $0.close() } }

    /// Sends a notification over another connection, as a change is sent, and waits until it arrives. If it does not, the listener connects
    /// again.
    /// - Parameters:
    ///   - sender: the other connection.
    ///   - limit: how long all of it may take.
    /// - Throws: `StoreError`.
    func probe(over sender: PostgreSQLPool, within limit: Duration) async throws(StoreError) {
        let calls = [
            // A change would wait for the standbys; that is another kind of work.
            PostgreSQLCall("listener-commit", "SELECT set_config('synchronous_commit', 'off', true)"),
            PostgreSQLCall("listener-notify", "SELECT pg_notify($1, '')::text", [.text(own)]),
        ]
        // One that is sent while the listener connects is lost. Another follows half a second later.
        let most = max(4, Int(limit / .milliseconds(500)))
        for _ in 1...most {
            let promise = awaited.withLock { awaited in
                let promise = awaited ?? Promise<Void, any Error>()
                awaited = promise
                return promise
            }
            _ = try await sender.run(calls, within: limit)
            let hasArrived: Void? = try? await withDeadline(
                limit / most, SystemTimekeeper(), expired: { StoreError.late }, { try await promise.value })
            if hasArrived != nil { return }
        }
        let (isUp, trouble) = lane.withLock { ($0.load.isUp, $0.trouble) }
        if isUp {
            let next = try PostgreSQLLane(setup, name: "listener")
            lane.withLock { lane in
                lane.close()
                lane = next
            }
        }
        throw trouble
            ?? StoreError(
                .unavailable, PostgreSQLStore.name, reason: "The connection for notifications does not receive them.")
    }
}
