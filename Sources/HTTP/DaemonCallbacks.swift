import CMicroHTTPD
import Foundation

// Functions that libmicrohttpd calls on its own threads. They are not closures and stand outside `main.swift`, so that no
// actor is asserted. The daemon's context lives until `MHD_stop_daemon` has returned; each exchange is retained once when
// its request line arrives and released once when libmicrohttpd says that the request is over, which it does for every
// request whose line arrived, also when the client vanishes.

/// A client has connected: whether it may stay.
func takeClient(
    context: UnsafeMutableRawPointer?, address: UnsafePointer<sockaddr>?, length: socklen_t
) -> MHD_Result {
    guard let context else { return .NO }
    return Unmanaged<Daemon>.fromOpaque(context).takeUnretainedValue().open.isClosed ? .NO : .YES
}

/// The request line has arrived: makes the exchange. The only place where the undecoded target is to be had.
func takeTarget(
    context: UnsafeMutableRawPointer?, target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let target else { return nil }
    let daemon = Unmanaged<Daemon>.fromOpaque(context).takeUnretainedValue()
    return Unmanaged.passRetained(Exchange(daemon, target: String(cString: target))).toOpaque()
}

/// The exchange goes on: head, pieces of the body, its end, the reply.
func takeStep(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, path: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, piece: UnsafePointer<CChar>?,
    pieceCount: UnsafeMutablePointer<Int>?, slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let connection, let method, let pieceCount, let pointer = slot?.pointee else { return .NO }
    let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
    let taken = UnsafeBufferPointer(start: piece, count: piece == nil ? 0 : pieceCount.pointee)
    pieceCount.pointee = 0
    return exchange.proceed(connection, method: method, piece: taken)
}

/// The exchange is over, well or not.
func takeEnd(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let slot, let pointer = slot.pointee else { return }
    slot.pointee = nil
    Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().end()
}

/// libmicrohttpd has something to say.
func takeLogLine(context: UnsafeMutableRawPointer?, format: UnsafePointer<CChar>?, arguments: CVaListPointer?) {
    guard let context, let format, let arguments else { return }
    var text = [CChar](repeating: 0, count: 512)
    vsnprintf(&text, text.count, format, arguments)
    let line = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    Unmanaged<Daemon>.fromOpaque(context).takeUnretainedValue().note(line)
}
