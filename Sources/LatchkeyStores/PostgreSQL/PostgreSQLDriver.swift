import Foundation
import LatchkeyCore
import LatchkeySystem

/// Drives one connection: connects, sends jobs, reads answers, and connects again. Lives on its lane's thread.
final class PostgreSQLDriver {
    private enum Phase {
        case pausing(until: ContinuousClock.Instant)
        case connecting(PostgreSQLConnection, PostgreSQLConnection.Progress, until: ContinuousClock.Instant)
        case up(PostgreSQLConversation)
    }

    /// The first and the longest pause after all hosts failed.
    private static let firstPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(2)
    private static let longestPatience = Duration.seconds(600)

    private let setup: PostgreSQLLane.Setup
    /// How long a connection may be silent now.
    private var patience: Duration?
    private let mailbox: PostgreSQLLane.Mailbox
    private var phase = Phase.pausing(until: .now)
    private var waiting: [PostgreSQLJob] = []
    /// The host to try next, and the number of consecutive failures.
    private var host = 0
    private var failures = 0
    /// When the last connection came up.
    private var began: ContinuousClock.Instant?
    /// Whether the last poll found the socket ready.
    private var isSocketReady = false
    /// Why the last attempt failed; then jobs do not wait for the next one.
    private var trouble: StoreError? { didSet { mailbox.setTrouble(trouble) } }

    init(_ setup: PostgreSQLLane.Setup, _ mailbox: PostgreSQLLane.Mailbox) {
        self.setup = setup
        patience = setup.patience
        self.mailbox = mailbox
    }

    /// Runs until the lane is closed.
    func run() {
        while !mailbox.isClosed {
            waiting += mailbox.take()
            advance()
            expire()
            if let trouble { fail(trouble) }
            poll()
        }
        let closed = StoreError(.unavailable, PostgreSQLStore.name, reason: "The store was closed.")
        if case .up(let conversation) = phase { conversation.end(closed) }
        waiting += mailbox.take()
        fail(closed)
        mailbox.setUp(false)
    }

    private func advance() {
        let now = ContinuousClock.now
        switch phase {
        case .pausing(let end):
            if now >= end { connect() }
        case .connecting(let connection, _, let end):
            guard now < end else {
                return retreat(StoreError(.unavailable, PostgreSQLStore.name, reason: "The host does not answer."))
            }
            // libpq mistakes a socket that is not ready for a connected one.
            guard isSocketReady else { return }
            switch connection.advance() {
            case .isUp: begin(connection)
            case .failed: retreat(connection.connectError)
            case let progress: phase = .connecting(connection, progress, until: end)
            }
        case .up(let conversation):
            // Answers make room for waiting jobs, and nothing else would wake the thread for them.
            repeat {
                conversation.send(&waiting)
                if let error = conversation.advance() { return retreat(error) }
            } while !waiting.isEmpty && conversation.hasRoom
            if conversation.hasAnswered { patience = setup.patience }
        }
    }

    private func connect() {
        let end = ContinuousClock.now + setup.hosts.connectLimit
        let parameters = setup.hosts.parameters[host % setup.hosts.parameters.count]
        guard let connection = PostgreSQLConnection(parameters) else {
            return retreat(
                StoreError(.unavailable, PostgreSQLStore.name, reason: "Memory for a connection is exhausted."))
        }
        guard !connection.hasFailed else { return retreat(connection.connectError) }
        phase = .connecting(connection, .writes, until: end)
    }

    private func begin(_ connection: PostgreSQLConnection) {
        guard connection.isUTF8 else {
            return retreat(
                StoreError(
                    .misconfigured, PostgreSQLStore.name, reason: "The database does not keep text as UTF-8.",
                    remedy: "Create the database with ENCODING 'UTF8'."))
        }
        let conversation = PostgreSQLConversation(connection, mailbox, setup, patience: patience)
        conversation.open(setup)
        phase = .up(conversation)
        began = .now
        failures = 0
        trouble = nil
        mailbox.setUp(true)
    }

    /// Leaves a connection, and tries the next host: immediately, or after a pause if all have failed.
    private func retreat(_ error: StoreError) {
        mailbox.setUp(false)
        if case .up(let conversation) = phase {
            conversation.end(error)
            // Immediately, but not over and over to a server that drops each connection.
            phase = .pausing(until: (began ?? .now) + Self.firstPause)
            return
        }
        failures += 1
        host += 1
        let rounds = failures / setup.hosts.parameters.count
        guard failures % setup.hosts.parameters.count == 0 else { return phase = .pausing(until: .now) }
        trouble = error
        phase = .pausing(until: .now + min(Self.longestPause, Self.firstPause * (1 << min(rounds - 1, 10))))
    }

    /// Answers jobs that cannot wait any longer. Jobs under way continue, but their results are dropped.
    private func expire() {
        let now = ContinuousClock.now
        let late = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        for job in late { mailbox.finish(job, .failure(.late)) }
        guard case .up(let conversation) = phase, conversation.expire(at: now) else { return }
        if setup.growsPatient { patience = patience.map { min($0 * 2, Self.longestPatience) } }
        // Fails the younger jobs, too, which did not wait for as long.
        var error = StoreError(
            .unavailable, PostgreSQLStore.name, reason: "PostgreSQL sent nothing within the limit.")
        error.isLate = true
        retreat(error)
    }

    private func fail(_ error: StoreError) {
        let jobs = waiting
        waiting = []
        for job in jobs { mailbox.finish(job, .failure(error)) }
    }

    private func poll() {
        var polled = [pollfd(fd: mailbox.bell.reading, events: Int16(POLLIN), revents: 0)]
        var ends = waiting.map(\.deadline)
        switch phase {
        case .pausing(let end): ends.append(end)
        case .connecting(let connection, let progress, let end):
            ends.append(end)
            let events: Int32
            if case .reads = progress { events = Int32(POLLIN) } else { events = Int32(POLLOUT) }
            polled.append(pollfd(fd: connection.socket, events: Int16(events), revents: 0))
        case .up(let conversation):
            ends += conversation.ends
            let events = Int32(POLLIN) | (conversation.hasMoreToWrite ? Int32(POLLOUT) : 0)
            polled.append(pollfd(fd: conversation.socket, events: Int16(events), revents: 0))
        }
        let wait = ends.min().map { max(.zero, ContinuousClock.now.duration(to: $0)) } ?? .seconds(3_600)
        _ = Foundation.poll(&polled, nfds_t(polled.count), Int32(clamping: Int(wait.inMilliseconds.rounded(.up))))
        isSocketReady = polled.count > 1 && polled[1].revents != 0
        if polled.first?.revents != 0 { mailbox.bell.silence() }
    }
}

extension StoreError {
    static let late = StoreError(
        .unavailable, PostgreSQLStore.name, reason: "PostgreSQL did not answer within the limit.")
}
