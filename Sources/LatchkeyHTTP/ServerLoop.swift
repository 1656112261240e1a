import CSockets
import Foundation
import LatchkeyCore
import LatchkeySystem

/// Accepts connections, and reads and writes for them, without waiting for any.
// Sound because one thread at a time runs it; others reach it by its inbox.
final class ServerLoop: @unchecked Sendable {
    let daemon: Daemon
    let inbox = LoopInbox()
    /// Readable when there is something to do.
    let readiness: Int32
    /// The buffer that connections read into, before they keep the bytes.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1_024, alignment: 16)

    private let listener: Int32
    private var isListening = false
    private let isToAcceptAgain = Locked(false)
    private(set) var connections: [UInt64: ClientConnection] = [:]
    /// The connections with an event, and the connections with more work than fitted into their turns: each run has a turn for one of
    /// these. Addresses take turns at both, so that a crowd does not delay other addresses.
    private var ready = OwnerTurns<NetworkAddress, ClientConnection>()
    private var unfinished = OwnerTurns<NetworkAddress, ClientConnection>()
    private var events = [latchkey_event](repeating: latchkey_event(), count: 64)
    private var lastDate: (second: time_t, text: String) = (0, "")

    private static let mostAcceptedAtOnce = 16
    /// How many the system lets wait.
    private static let mostWaiting = 1_024

    /// - Returns: `nil`, with `errno`, if the process may not open the file that it needs.
    init?(_ daemon: Daemon, listener: Int32) {
        (self.daemon, self.listener) = (daemon, listener)
        readiness = latchkey_readiness()
        guard readiness >= 0 else { return nil }
        isListening = latchkey_readiness_listen(readiness, listener, true)
    }

    deinit {
        buffer.deallocate()
        if readiness >= 0 { close(readiness) }
    }

    /// The current date as a header field has it.
    var date: String {
        let now = time(nil)
        guard now != lastDate.second else { return lastDate.text }
        var text = [CChar](repeating: 0, count: 32)
        let second = latchkey_date(&text)
        lastDate = (second, String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        return lastDate.text
    }

    /// Whether there is something to do immediately.
    var hasWaiting: Bool { !ready.isEmpty || !unfinished.isEmpty }

    /// Does the available work. Does not wait.
    func run() {
        let next = unfinished.take(newest: false)
        let (goingOn, mayAccept, endsListening) = inbox.take()
        for connection in goingOn {
            connection.isShakingHands = false
            enqueue(connection)
        }
        let count = Int(latchkey_readiness_take(readiness, &events, Int32(events.count)))
        var isCalled = false
        for event in events.prefix(count) {
            guard event.number > 0 else {
                isCalled = true
                continue
            }
            guard let connection = connections[event.number] else { continue }
            if event.readable { connection.canRead = true }
            if event.writable { connection.canWrite = true }
            if event.ended { connection.hasPeerEnded = true }
            enqueue(connection)
        }
        for _ in events {
            guard let connection = ready.take(newest: false) else { break }
            giveTurn(connection)
        }
        if mayAccept, !isListening {
            isListening = latchkey_readiness_listen(readiness, listener, true)
            isCalled = true
        }
        // After the others, so that heads that have arrived are read before a connection has to make room.
        if isCalled { accept(most: Self.mostAcceptedAtOnce) }
        if endsListening { endListening() }
        if let next { giveTurn(next) }
    }

    /// Closes all connections. No thread runs the loop any more.
    func end() {
        for connection in connections.values { connection.close() }
        (connections, ready, unfinished) = ([:], OwnerTurns(), OwnerTurns())
        inbox.close()
    }

    private func giveTurn(_ connection: ClientConnection) {
        connection.isQueued = false
        switch connection.takeTurn() {
        case .wait: break
        case .goOn:
            connection.isQueued = true
            unfinished.append(connection, of: connection.address)
        case .close:
            connections[connection.number] = nil
            connection.close()
        }
    }

    private func enqueue(_ connection: ClientConnection) {
        guard !connection.isQueued else { return }
        connection.isQueued = true
        ready.append(connection, of: connection.address)
    }

    /// Accepts the connections that wait, and has the system refuse others: a client that is refused asks another server, and one whose
    /// connection ends after it has sent its request does not. So none begins in between.
    private func endListening() {
        daemon.dropConnects()
        accept(most: Self.mostWaiting)
        stopListening()
        daemon.loopHasStoppedListening()
    }

    private func accept(most: Int) {
        for _ in 0..<most {
            guard daemon.openFiles.take(for: .client) else { return waitForRoom() }
            var address = sockaddr_storage()
            let socket = latchkey_accept(listener, &address)
            guard socket >= 0 else {
                let number = errno
                daemon.openFiles.give()
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number) { waitAWhile() }
                if number == ECONNABORTED || number == EINTR { continue }
                // Another loop has ended listening.
                if number == EINVAL { stopListening() }
                return
            }
            guard !daemon.open.isClosed else {
                close(socket)
                daemon.openFiles.give()
                continue
            }
            begin(socket, address)
        }
    }

    private func begin(_ socket: Int32, _ address: sockaddr_storage) {
        let (identity, offer) = (daemon.identity, daemon.offer)
        var tls: TLSSession?
        if let identity, let offer {
            tls = TLSSession(identity, offer, socket: socket)
            guard tls != nil else {
                close(socket)
                return daemon.openFiles.give()
            }
        }
        let connection = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                ClientConnection(socket: socket, address: $0, tls: tls, loop: self, at: daemon.time.uptime)
            }
        }
        daemon.admit(connection)
        guard latchkey_readiness_add(readiness, socket, connection.number) else { return connection.close() }
        connections[connection.number] = connection
        enqueue(connection)
    }

    /// Leaves new connections to the system until a descriptor is given back, and asks to close the connection that is missed least.
    private func waitForRoom() {
        // A connection is closed only for a waiting client.
        guard latchkey_has_waiting(listener) else { return }
        stopListening()
        daemon.openFiles.afterNextGive { [inbox] in inbox.accept() }
        // Some may have been given back in between.
        if daemon.openFiles.left(for: .client) > 0 { return inbox.accept() }
        // No event announces when a client that has just connected may be closed.
        if !daemon.openFiles.makeRoom() { acceptAgain(in: ClientConnection.arrival) }
    }

    /// The system has no descriptors, though the budget has: others have taken them.
    private func waitAWhile() {
        stopListening()
        acceptAgain(in: .seconds(1))
    }

    private func acceptAgain(in time: Duration) {
        let isFirst = isToAcceptAgain.withLock { isPending in
            defer { isPending = true }
            return !isPending
        }
        guard isFirst else { return }
        // Ends automatically.
        Task { [inbox, isToAcceptAgain, clock = daemon.time] in
            try? await clock.sleep(for: time)
            isToAcceptAgain.withLock { $0 = false }
            inbox.accept()
        }
    }

    private func stopListening() {
        guard isListening else { return }
        isListening = !latchkey_readiness_listen(readiness, listener, false)
    }
}
