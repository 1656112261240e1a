import Foundation
import LatchkeyCore
import LatchkeySystem

/// The requests on an established connection that wait for answers. Lives on its lane's thread.
///
/// Each job ends with a sync, so that it is its own transaction: a failure affects no other job.
final class PostgreSQLConversation {
    /// One step of a job that waits for its answer, in the order of sending.
    private enum Step {
        case prepare(String)
        case call(String)
        case sync
    }

    private struct Pending {
        let job: PostgreSQLJob
        var steps: [Step]
        var answers: [PostgreSQLAnswer] = []
        var failure: PostgreSQLFailure?
        /// Whether the caller has given up waiting.
        var isLate = false
        /// Whether it is the connection's own.
        var isOwn = false
    }

    /// The most jobs under way; jobs that wait behind a slow one can still go another way.
    private static let depth = 64
    private let connection: PostgreSQLConnection
    private let mailbox: PostgreSQLLane.Mailbox
    private let channels: PostgreSQLChannels?
    private let patience: Duration?
    private let takesReadOnly: Bool
    private var prepared: Set<String> = []
    /// Why statements could not be prepared, until they are.
    private var unprepared: [String: PostgreSQLFailure] = [:]
    private var pending: [Pending] = []
    private(set) var hasMoreToWrite = false
    /// Whether one of the lane's jobs was done.
    private(set) var hasAnswered = false
    private var isBroken = false

    init(
        _ connection: PostgreSQLConnection, _ mailbox: PostgreSQLLane.Mailbox, _ setup: PostgreSQLLane.Setup,
        patience: Duration?
    ) {
        (self.connection, self.mailbox, self.patience) = (connection, mailbox, patience)
        channels = setup.channels
        takesReadOnly = setup.hosts.takesReadOnly
    }

    var socket: Int32 { connection.socket }

    /// The times at which something is due even if nothing arrives.
    var ends: [ContinuousClock.Instant] {
        let end = patience.flatMap { patience in pending.first.map { $0.job.deadline + patience } }
        return pending.filter { !$0.isLate }.map(\.job.deadline) + [end].compactMap(\.self)
    }

    /// Sends the setup statements of a new connection.
    func open(_ setup: PostgreSQLLane.Setup) {
        let calls =
            [
                PostgreSQLCall(
                    "latchkey-setup",
                    "SELECT set_config('synchronous_commit', $1, false), set_config('statement_timeout', $2, false)",
                    [.text(setup.isDurable ? "on" : "off"), .text("\(Int(setup.statementLimit.inMilliseconds))")])
            ] + (channels?.names ?? []).map { PostgreSQLCall("latchkey-listen-\($0)", "LISTEN \($0)") }
        let hear = channels?.hear
        send(
            PostgreSQLJob(calls: calls, deadline: .now + setup.hosts.connectLimit) { outcome in
                if case .answers = outcome { hear?(nil) }
            }, isOwn: true)
    }

    /// Whether another job may be sent.
    var hasRoom: Bool { pending.count < Self.depth }

    /// Sends jobs, as many as may be under way.
    func send(_ jobs: inout [PostgreSQLJob]) {
        let count = min(jobs.count, max(0, Self.depth - pending.count))
        for job in jobs.prefix(count) { send(job, isOwn: false) }
        jobs.removeFirst(count)
    }

    private func send(_ job: PostgreSQLJob, isOwn: Bool) {
        // The mailbox counts only the jobs that it handed out.
        let job =
            isOwn
            ? job : PostgreSQLJob(calls: job.calls, deadline: job.deadline) { [mailbox] in mailbox.finish(job, $0) }
        var steps: [Step] = []
        for call in job.calls {
            if prepared.insert(call.name).inserted {
                isBroken = isBroken || !connection.prepare(call)
                steps.append(.prepare(call.name))
            }
            isBroken = isBroken || !connection.send(call)
            steps.append(.call(call.name))
        }
        isBroken = isBroken || !connection.sync()
        pending.append(Pending(job: job, steps: steps + [.sync], isOwn: isOwn))
    }

    /// Writes, reads, and answers.
    /// - Returns: why the connection is no longer usable; `nil` if it is.
    func advance() -> StoreError? {
        guard !isBroken, connection.receive(), let hasMore = connection.flush() else {
            // The server's last words may say why.
            return read() ?? PostgreSQLFailure("").error
        }
        hasMoreToWrite = hasMore
        let end = read()
        for notification in connection.notifications() { channels?.hear(notification) }
        return end
    }

    /// Processes answers.
    private func read() -> StoreError? {
        var answered = 0
        defer { pending.removeFirst(answered) }
        while answered < pending.count, let event = connection.next() {
            switch (event, pending[answered].steps.first) {
            case (.answer(let answer), .call(_)?): pending[answered].answers.append(answer)
            case (.failure(var failure), let step?):
                switch step {
                case .prepare(let name):
                    prepared.remove(name)
                    unprepared[name] = unprepared[name] ?? failure
                // A job that was sent before it was known that there is no such statement.
                case .call(let name) where failure.state == "26000": failure = unprepared[name] ?? failure
                case .call(_), .sync: break
                }
                // The steps after an error are reported as not done.
                pending[answered].failure = pending[answered].failure ?? failure
                if failure.endsConnection(takesReadOnly: takesReadOnly),
                    pending[answered].failure?.state == failure.state
                {
                    return failure.error
                }
            case (.answer, _), (.failure, _): break
            case (.statementEnd, .sync?), (.statementEnd, nil): return nil
            case (.statementEnd, let step?):
                if case .prepare(let name) = step, pending[answered].failure == nil { unprepared[name] = nil }
                pending[answered].steps.removeFirst()
            case (.sync, _):
                resolve(pending[answered])
                answered += 1
            }
        }
        return nil
    }

    private func resolve(_ one: Pending) {
        hasAnswered = hasAnswered || !one.isOwn
        guard !one.isLate else { return }
        one.job.done(
            one.failure.map { $0.isCrossing ? .crossing($0.error) : .failure($0.error) } ?? .answers(one.answers))
    }

    /// Answers jobs that cannot wait any longer.
    /// - Returns: whether the server has been silent for so long that the connection is given up.
    func expire(at now: ContinuousClock.Instant) -> Bool {
        for index in pending.indices where !pending[index].isLate && pending[index].job.deadline <= now {
            pending[index].isLate = true
            pending[index].job.done(.failure(.late))
        }
        guard let patience, let first = pending.first else { return false }
        return first.job.deadline + patience <= now
    }

    /// Fails all jobs under way: it is unknown whether they were done.
    func end(_ error: StoreError) {
        for one in pending where !one.isLate { one.job.done(.failure(one.failure?.error ?? error)) }
        pending = []
    }
}
