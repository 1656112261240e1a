import Foundation
import LatchkeyCore
import LatchkeySystem

/// What was sent over a connection that is up, and waits for answers. Lives on its lane's thread.
///
/// Each job ends with a sync, so that it is a transaction of its own: what fails takes nothing else with it.
final class PostgreSQLConversation {
    /// One step of a job whose answer is to come, in the order in which they were sent.
    private enum Step {
        case prepare(String)
        case call
        case sync
    }

    private struct Pending {
        let job: PostgreSQLJob
        var steps: [Step]
        var answers: [PostgreSQLAnswer] = []
        var failure: PostgreSQLFailure?
        /// Whether nobody waits any more.
        var isLate = false
    }

    /// The most jobs under way; what waits behind a slow one can still go another way.
    private static let depth = 64
    /// How long after a job's end a connection may be silent.
    private static let patience = Duration.seconds(1)

    private let connection: PostgreSQLConnection
    private let mailbox: PostgreSQLLane.Mailbox
    private let hear: (@Sendable (String?) -> Void)?
    private var prepared: Set<String> = []
    private var pending: [Pending] = []
    private(set) var hasMoreToWrite = false
    private var isBroken = false

    init(_ connection: PostgreSQLConnection, _ mailbox: PostgreSQLLane.Mailbox, hear: (@Sendable (String?) -> Void)?) {
        self.connection = connection
        self.mailbox = mailbox
        self.hear = hear
    }

    var socket: Int32 { connection.socket }

    /// When something is to be looked at even if nothing comes.
    var ends: [ContinuousClock.Instant] {
        guard let first = pending.first else { return [] }
        return pending.filter { !$0.isLate }.map(\.job.deadline) + [first.job.deadline + Self.patience]
    }

    /// Sends what the connection has to be told first.
    func open(_ setup: PostgreSQLLane.Setup) {
        var calls = [
            PostgreSQLCall(
                "latchkey-setup",
                "SELECT set_config('synchronous_commit', $1, false), set_config('statement_timeout', $2, false)",
                [.text(setup.isDurable ? "on" : "off"), .text("\(Int(setup.statementLimit.inMilliseconds))")])
        ]
        if let channel = setup.channel { calls.append(PostgreSQLCall("latchkey-listen", "LISTEN \(channel.name)")) }
        let hear = hear
        let isListening = setup.channel != nil
        send(
            PostgreSQLJob(calls: calls, deadline: .now + setup.hosts.connectLimit) { outcome in
                if case .answers = outcome, isListening { hear?(nil) }
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
        // The mailbox counts what it gave out, and nothing else.
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
            steps.append(.call)
        }
        isBroken = isBroken || !connection.sync()
        pending.append(Pending(job: job, steps: steps + [.sync]))
    }

    /// Writes, reads, and answers.
    /// - Returns: why the connection is of no more use; `nil` if it is.
    func advance() -> StoreError? {
        guard !isBroken, connection.receive(), let hasMore = connection.flush() else {
            // The server's last words may say why.
            return read() ?? PostgreSQLFailure("").error
        }
        hasMoreToWrite = hasMore
        let end = read()
        for text in connection.notifications() { hear?(text) }
        return end
    }

    /// Takes note of answers.
    private func read() -> StoreError? {
        var answered = 0
        defer { pending.removeFirst(answered) }
        while answered < pending.count, let event = connection.next() {
            switch (event, pending[answered].steps.first) {
            case (.answer(let answer), .call?): pending[answered].answers.append(answer)
            case (.failure(let failure), let step?):
                if case .prepare(let name) = step { prepared.remove(name) }
                // What follows an error answers that it was not done.
                pending[answered].failure = pending[answered].failure ?? failure
                if failure.endsConnection, pending[answered].failure?.state == failure.state { return failure.error }
            case (.answer, _), (.failure, _): break
            case (.statementEnd, .sync?), (.statementEnd, nil): return nil
            case (.statementEnd, _?): pending[answered].steps.removeFirst()
            case (.sync, _):
                resolve(pending[answered])
                answered += 1
            }
        }
        return nil
    }

    private func resolve(_ one: Pending) {
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
        return pending.first.map { $0.job.deadline + Self.patience <= now } ?? false
    }

    /// Answers all that is under way: nobody knows whether it was done.
    func end(_ error: StoreError) {
        for one in pending where !one.isLate { one.job.done(.failure(one.failure?.error ?? error)) }
        pending = []
    }
}
