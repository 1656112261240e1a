import Foundation
import LatchkeyCore
import LatchkeySystem

/// Statements that form one transaction, and the callback for their answers.
struct PostgreSQLJob: Sendable {
    enum Outcome: Sendable {
        case answers([PostgreSQLAnswer])
        case failure(StoreError)
        /// An immediate retry of the job may succeed.
        case crossing(StoreError)
    }

    let calls: [PostgreSQLCall]
    let deadline: ContinuousClock.Instant
    let done: @Sendable (Outcome) -> Void
}

/// One connection with its own thread, which reconnects automatically.
final class PostgreSQLLane: Sendable {
    /// The setup of a lane's connections, and their listeners.
    struct Setup: Sendable {
        var hosts: PostgreSQLHosts
        /// Whether a commit waits for the disk and a synchronous standby.
        var isDurable: Bool
        /// How long the server works on one statement.
        var statementLimit: Duration
        /// How long a connection may be silent after a job's end; `nil` for as long as the network keeps it. Defaults to a second.
        var patience: Duration? = .seconds(1)
        /// Whether the patience doubles after each connection that was given up, until a job is answered. Defaults to no.
        var growsPatient = false
        var channels: PostgreSQLChannels?
    }

    fileprivate struct State {
        var waiting: [PostgreSQLJob] = []
        /// Jobs that are waiting or under way.
        var load = 0
        var isUp = false
        /// Why no host took a connection at the last round.
        var trouble: StoreError?
        var isClosed = false
    }

    private static let limit = 4_096
    /// A connection, both ends of a bell, and the descriptors for looking up a host.
    private static let descriptors = 4
    private let share: OpenFileShare
    private let state = Locked(State())
    private let bell: Bell

    /// Starts the thread, which begins to connect.
    init(_ setup: Setup, name: String) throws(StoreError) {
        guard let share = OpenFileShare(Self.descriptors) else {
            throw StoreError(.full, "postgresql", reason: "The process has too few descriptors left for PostgreSQL.")
        }
        self.share = share
        bell = try Bell()
        let mailbox = Mailbox(state: state, bell: bell)
        let thread = Thread {
            PostgreSQLDriver(setup, mailbox).run()
        }
        thread.name = "latchkey-postgresql-\(name)"
        thread.start()
    }

    deinit { close() }

    /// Ends the connection. Waiting jobs fail as unavailable.
    package func close() {
        state.withLock { $0.isClosed = true }
        bell.ring()
    }

    /// The number of waiting jobs, and whether the connection is up.
    var load: (isUp: Bool, count: Int) { state.withLock { ($0.isUp, $0.load) } }

    /// Why no host took a connection at the last round; `nil` if one did.
    var trouble: StoreError? { state.withLock(\.trouble) }

    func add(_ job: PostgreSQLJob) {
        let isTaken = state.withLock { state in
            guard !state.isClosed, state.load < Self.limit else { return false }
            state.waiting.append(job)
            state.load += 1
            return true
        }
        guard isTaken else {
            let words = "\(Self.limit) statements are waiting for a connection, or the store was closed."
            return job.done(.failure(StoreError(.unavailable, PostgreSQLStore.name, reason: words)))
        }
        bell.ring()
    }

    /// The lane as its thread sees it. The thread does not hold the lane, so that it ends when the lane is released.
    struct Mailbox {
        fileprivate let state: Locked<State>
        let bell: Bell

        var isClosed: Bool { state.withLock(\.isClosed) }

        func take() -> [PostgreSQLJob] {
            state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
        }

        func finish(_ job: PostgreSQLJob, _ outcome: PostgreSQLJob.Outcome) {
            state.withLock { $0.load -= 1 }
            job.done(outcome)
        }

        func setUp(_ isUp: Bool) { state.withLock { $0.isUp = isUp } }

        func setTrouble(_ trouble: StoreError?) { state.withLock { $0.trouble = trouble } }
    }
}

/// Wakes a thread that polls.
final class Bell: Sendable {
    /// Readable once the bell rang.
    let reading: Int32
    private let writing: Int32

    init() throws(StoreError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw StoreError(.unavailable, PostgreSQLStore.name, reason: "The process has too many open files.")
        }
        reading = ends[0]
        writing = ends[1]
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        Foundation.close(reading)
        Foundation.close(writing)
    }

    /// If the pipe is full, the bell has rung already.
    func ring() { _ = write(writing, "!", 1) }

    func silence() {
        var heard = [UInt8](repeating: 0, count: 512)
        while read(reading, &heard, heard.count) == heard.count {}
    }
}
