import CGnuTLS
import CMicroHTTPD
import Foundation
import LatchkeyCore

// libmicrohttpd calls these functions on its own threads. They are not closures and are declared outside `main.swift`, so that no
// actor is asserted. The daemon's context lives until `MHD_stop_daemon` has returned. Each connection is retained once when it
// begins and released once when it is closed. It holds its exchange, because libmicrohttpd does not report the end of every
// request whose line arrived.

/// A client has connected. Returns whether it may stay.
func takeClient(
    context: UnsafeMutableRawPointer?, address: UnsafePointer<sockaddr>?, length: socklen_t
) -> MHD_Result {
    guard let context else { return .NO }
    return Unmanaged<Daemon>.fromOpaque(context).takeUnretainedValue().open.isClosed ? .NO : .YES
}

/// A connection begins, or is about to be closed; in both cases its socket is still open.
func takeConnection(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, event: MHD_ConnectionNotificationCode
) {
    guard let context, let connection, let slot else { return }
    let daemon = Unmanaged<Daemon>.fromOpaque(context).takeUnretainedValue()
    guard let known = slot.pointee else {
        let client = ClientConnection(
            socket: latchkey_mhd_socket(connection), address: latchkey_mhd_client(connection),
            identity: daemon.identity, leaderSleep: daemon.leaderSleep, at: daemon.time.uptime)
        slot.pointee = Unmanaged.passRetained(client).toOpaque()
        return daemon.admit(client)
    }
    slot.pointee = nil
    let client = Unmanaged<ClientConnection>.fromOpaque(known).takeRetainedValue()
    client.exchange?.abandon()
    client.exchange = nil
    daemon.connections.remove(client)
}

/// A handshake asks for a certificate. libmicrohttpd has set its connection as the session's pointer before.
// GnuTLS keeps the pointers for the handshake and frees nothing. They belong to the identity that the connection got when it began and
// holds until libmicrohttpd has reported its end, after which no handshake of it runs: no replacement can free them too early.
func takeHandshake(
    session: gnutls_session_t?, authorities: UnsafePointer<gnutls_datum_t>?, authorityCount: Int32,
    algorithms: UnsafePointer<gnutls_pk_algorithm_t>?, algorithmCount: Int32,
    certificates: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?,
    certificateCount: UnsafeMutablePointer<UInt32>?, key: UnsafeMutablePointer<gnutls_privkey_t?>?
) -> Int32 {
    guard let session, let connection = gnutls_session_get_ptr(session),
        let known = latchkey_mhd_context(OpaquePointer(connection)),
        let identity = Unmanaged<ClientConnection>.fromOpaque(known).takeUnretainedValue().identity
    else { return -1 }
    certificates?.pointee = identity.certificates.baseAddress
    certificateCount?.pointee = UInt32(identity.certificates.count)
    key?.pointee = identity.key
    return 0
}

/// The request line has arrived. Makes the exchange. No other callback gets the undecoded target.
func takeTarget(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let target, let connection, let known = latchkey_mhd_context(connection) else { return nil }
    let daemon = Unmanaged<Daemon>.fromOpaque(context).takeUnretainedValue()
    let client = Unmanaged<ClientConnection>.fromOpaque(known).takeUnretainedValue()
    let exchange = HTTPExchange(daemon, target: String(cString: target), client: client)
    latchkey_mhd_forget_query(target)
    client.exchange = exchange
    return Unmanaged.passUnretained(exchange).toOpaque()
}

/// The next step of an exchange: the head, a piece of the body, the end of the body, or the reply.
func takeStep(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, path: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, piece: UnsafePointer<CChar>?,
    pieceCount: UnsafeMutablePointer<Int>?, slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let connection, let method, let pieceCount, let pointer = slot?.pointee else { return .NO }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(pointer).takeUnretainedValue()
    let taken = UnsafeBufferPointer(start: piece, count: piece == nil ? 0 : pieceCount.pointee)
    pieceCount.pointee = 0
    return exchange.proceed(connection, method: method, piece: taken)
}

/// The exchange has ended, completely or not.
func takeEnd(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let slot, let pointer = slot.pointee else { return }
    slot.pointee = nil
    Unmanaged<HTTPExchange>.fromOpaque(pointer).takeUnretainedValue().end()
    guard let connection, let client = latchkey_mhd_context(connection) else { return }
    Unmanaged<ClientConnection>.fromOpaque(client).takeUnretainedValue().exchange = nil
}

/// libmicrohttpd logs a line.
func takeLogLine(context: UnsafeMutableRawPointer?, format: UnsafePointer<CChar>?, arguments: CVaListPointer?) {
    guard let context, let format, let arguments else { return }
    var text = [CChar](repeating: 0, count: 512)
    vsnprintf(&text, text.count, format, arguments)
    let line = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    Unmanaged<Daemon>.fromOpaque(context).takeUnretainedValue().note(line)
}
