import CSockets
import Foundation
import LatchkeyCore
import LatchkeySystem

/// The connections of a server, and which one is closed at the limit.
///
/// Closing means `shutdown`: the connection's loop sees the end, removes it from here, and closes the socket. So the system cannot reuse
/// the socket's number before, and no other connection is ever touched.
// Sound because everything is touched under `lock` only; HTTPServerCrowdTests covers it.
final class OpenConnections: @unchecked Sendable {
    private let places: Int
    private let headDeadline: Duration
    private let idleTimeout: Duration
    private let lock = NSLock()
    private var keepAlive: Duration
    private var placesPerAddress: Int
    private var connections: [ObjectIdentifier: ClientConnection] = [:]
    private var counts: [NetworkAddress: Int] = [:]
    private var isWatched = false
    private var total: UInt64 = 0
    /// The number of connections, not counting those being closed.
    private var openCount = 0
    /// Whether a new connection was kept beyond a limit.
    private var isInExcess = false
    /// How many may be kept: as many as a loop accepts before it reads again.
    private static let mostInExcess = 16

    /// - Parameters:
    ///   - places: how many connections there may be.
    ///   - placesPerAddress: how many there may be from one address.
    ///   - headDeadline: how long a connection may wait for a request's head.
    ///   - keepAlive: how long it may wait between two requests.
    ///   - idleTimeout: how long it may wait for the next bytes of a body, or until the client takes the next bytes of a reply.
    init(places: Int, placesPerAddress: Int, headDeadline: Duration, keepAlive: Duration, idleTimeout: Duration) {
        self.keepAlive = keepAlive
        self.idleTimeout = idleTimeout
        self.places = places
        self.placesPerAddress = max(1, placesPerAddress)
        self.headDeadline = headDeadline
    }

    /// Adds a connection. At the limit another one is closed, or the new one if no other can be.
    /// - Returns: whether the deadlines are unwatched; then the caller has to watch them, with `nextDue`.
    func add(_ connection: ClientConnection, at now: Duration) -> Bool {
        lock.withLock {
            total += 1
            connection.number = total
            connections[ObjectIdentifier(connection)] = connection
            counts[connection.address, default: 0] += 1
            openCount += 1
            let excess = counts[connection.address, default: 0] - placesPerAddress
            if excess > 0 { makeRoom(for: connection, excess, first { $0.address == connection.address }) }
            if openCount > places { makeRoom(for: connection, openCount - places, displaced()) }
            defer { isWatched = true }
            return !isWatched
        }
    }

    /// Makes room for a new connection by closing another one. If no other can be closed, the new one is closed, unless a head waits
    /// to be read: then the server is late.
    private func makeRoom(for new: ClientConnection, _ excess: Int, _ one: ClientConnection?) {
        if let one { return close(one) }
        isInExcess = excess <= Self.mostInExcess && connections.values.contains { !$0.isClosing && hasUnreadHead($0) }
        if !isInExcess { close(new) }
    }

    /// A head was read, so that a connection may be closed for a new one that has stayed.
    private func endExcess(of address: NetworkAddress) {
        guard isInExcess else { return }
        if counts[address, default: 0] > placesPerAddress, let one = first(where: { $0.address == address }) {
            close(one)
        }
        if openCount > places, let one = displaced() { close(one) }
        isInExcess = openCount > places || counts.values.contains { $0 > placesPerAddress }
    }

    /// Changes how many connections there may be from one address. Those beyond it that have waited longest for their client are closed.
    func allow(perAddress places: Int) {
        lock.withLock {
            placesPerAddress = max(1, places)
            for (address, count) in counts where count > placesPerAddress {
                for one in waitingLongest(where: { $0.address == address }).prefix(count - placesPerAddress) {
                    close(one)
                }
            }
        }
    }

    /// Changes how long a connection may wait between two requests.
    func keep(for time: Duration) { lock.withLock { keepAlive = time } }

    /// Sets the event that a connection waits for from now on.
    func enter(_ phase: ClientConnection.Phase, _ connection: ClientConnection, at now: Duration) {
        lock.withLock {
            (connection.phase, connection.since, connection.lastProgress, connection.isNew) = (phase, now, now, false)
            connection.isReading = phase == .head
            endExcess(of: connection.address)
        }
    }

    /// The connection keeps its place from now on: its client may have sent a request.
    /// - Returns: whether it has its place.
    func startReading(_ connection: ClientConnection) -> Bool {
        lock.withLock {
            connection.isReading = !connection.isClosing
            return connection.isReading
        }
    }

    /// The connection waits for further bytes of a head.
    func stopReading(_ connection: ClientConnection) {
        lock.withLock {
            connection.isReading = false
            endExcess(of: connection.address)
        }
    }

    /// Whether a request is on its way whose client does not know that the server stops: it has just connected, or sent something.
    /// - Parameter isDrained: whether one may also come over a connection that only waits for it.
    func mayBringRequest(isDrained: Bool) -> Bool {
        lock.withLock {
            connections.values.contains {
                guard !$0.isClosing else { return false }
                return $0.phase == .head || $0.phase == .idle && (isDrained || latchkey_has_unread($0.socket))
            }
        }
    }

    /// The connection has taken or sent bytes. That keeps it from being idle, but not from making room: a byte now and then is cheap.
    func progress(_ connection: ClientConnection, at now: Duration) { lock.withLock { connection.lastProgress = now } }

    /// Removes a connection whose socket is about to be closed.
    func remove(_ connection: ClientConnection) {
        lock.withLock {
            guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
            release(connection)
        }
    }

    /// The earliest time at which a connection may have waited too long; `nil`, which ends the watch, if no connection is open.
    func nextDue(at now: Duration) -> Duration? {
        lock.withLock {
            isWatched = !connections.isEmpty
            guard isWatched else { return nil }
            return connections.values.lazy.compactMap(due).min() ?? now + min(headDeadline, keepAlive)
        }
    }

    /// Closes the connections that have waited too long for their clients.
    func closeOverdue(at now: Duration) {
        lock.withLock {
            for connection in connections.values where due(connection).map({ $0 <= now }) ?? false { close(connection) }
        }
    }

    private func due(_ connection: ClientConnection) -> Duration? {
        guard !connection.isClosing else { return nil }
        return switch connection.phase {
        case .head: connection.since + headDeadline
        case .idle: connection.since + keepAlive
        case .body, .reply: connection.lastProgress + idleTimeout
        case .leaving: connection.since + .seconds(2)
        case .answer, .stream: nil
        }
    }

    /// A connection of the address with most connections, otherwise any. An address with more than a quarter of them costs no other address its
    /// place while all of its connections are being answered.
    /// - Parameter isMeant: which ones may be closed.
    private func displaced(where isMeant: (ClientConnection) -> Bool = { _ in true }) -> ClientConnection? {
        guard let busiest = counts.max(by: { $0.value < $1.value }) else { return nil }
        if let one = first(where: { $0.address == busiest.key && isMeant($0) }) { return one }
        return busiest.value * 4 > openCount ? nil : first(where: isMeant)
    }

    /// The connection that has waited longest for its client.
    private func first(where isMeant: (ClientConnection) -> Bool) -> ClientConnection? {
        waitingLongest(where: isMeant).first { _ in true }
    }

    /// The connections that wait for their clients, the longest first. One with a head that is not read yet does not wait for its client:
    /// after a burst of connections the server is late.
    private func waitingLongest(where isMeant: (ClientConnection) -> Bool) -> some Sequence<ClientConnection> {
        connections.values.compactMap { one in isMeant(one) ? one.yields.map { (one, $0) } : nil }
            .sorted { ($0.1, $0.0.number) < ($1.1, $1.0.number) }
            .lazy.map(\.0).filter { [self] in !hasUnreadHead($0) }
    }

    private func hasUnreadHead(_ connection: ClientConnection) -> Bool {
        [.head, .idle].contains(connection.phase) && (connection.isReading || latchkey_has_unread(connection.socket))
    }

    private func close(_ connection: ClientConnection) {
        release(connection)
        connection.isClosing = true
        shutdown(connection.socket, Int32(SHUT_RDWR))
    }

    /// Gives the place of a connection back, once.
    private func release(_ connection: ClientConnection) {
        guard !connection.isClosing else { return }
        openCount -= 1
        let count = counts[connection.address, default: 1] - 1
        counts[connection.address] = count > 0 ? count : nil
    }
}

extension OpenConnections: OpenFileBudget.Holder {
    var heldCount: Int { lock.withLock { openCount } }

    func closeOne() -> Bool {
        lock.withLock {
            // A client that has just connected, and no more than once, sends its request in a moment. The caller that needs room can wait.
            let one = displaced { !$0.hasJustArrived || counts[$0.address, default: 0] > 1 }
            guard let one else { return false }
            close(one)
            return true
        }
    }
}
