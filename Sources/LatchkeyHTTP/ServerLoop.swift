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
    /// Where a connection reads to, before it keeps what it has read.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1_024, alignment: 16)

    private let listener: Int32
    private var isListening = false
    private var connections: [UInt64: ClientConnection] = [:]
    private var events = [latchkey_event](repeating: latchkey_event(), count: 64)
    private var lastDate: (second: time_t, text: String) = (0, "")

    private static let mostAcceptedAtOnce = 16

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

    /// Does what there is to do. Does not wait.
    func run() {
        let (goingOn, mayAccept) = inbox.take()
        for connection in goingOn { proceed(connection) }
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
            proceed(connection)
        }
        if mayAccept, !isListening {
            isListening = latchkey_readiness_listen(readiness, listener, true)
            isCalled = true
        }
        // After the others, so that heads that have arrived are read before somebody has to make room.
        if isCalled { accept() }
    }

    /// Closes all connections. Nobody runs the loop any more.
    func end() {
        for connection in connections.values { connection.close() }
        connections = [:]
        inbox.close()
    }

    private func proceed(_ connection: ClientConnection) {
        guard !connection.proceed() else { return }
        connections[connection.number] = nil
        connection.close()
    }

    private func accept() {
        for _ in 0..<Self.mostAcceptedAtOnce {
            guard daemon.openFiles.take(for: .client) else { return waitForRoom() }
            var address = sockaddr_storage()
            let socket = latchkey_accept(listener, &address)
            guard socket >= 0 else {
                let number = errno
                daemon.openFiles.give()
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(number) { waitAWhile() }
                if number == ECONNABORTED || number == EINTR { continue }
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
        proceed(connection)
    }

    /// Leaves new connections to the system until some descriptor is given back, and has one closed that is missed least.
    private func waitForRoom() {
        // Nobody loses a place for nobody.
        guard latchkey_has_waiting(listener) else { return }
        stopListening()
        daemon.openFiles.afterNextGive { [inbox] in inbox.accept() }
        // Some may have been given back in between.
        if daemon.openFiles.left(for: .client) > 0 { return inbox.accept() }
        daemon.openFiles.makeRoom()
    }

    /// The system has no descriptors, though the budget has: others have taken them.
    private func waitAWhile() {
        stopListening()
        // Ends by itself.
        Task { [inbox, time = daemon.time] in
            try? await time.sleep(for: .seconds(1))
            inbox.accept()
        }
    }

    private func stopListening() {
        guard isListening else { return }
        isListening = !latchkey_readiness_listen(readiness, listener, false)
    }
}
