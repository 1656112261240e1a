import CGnuTLS
package import Foundation
import LatchkeyCore

/// A client's TLS connection to this machine. It takes any certificate, and reports which one the server presented.
// Sound because a test uses it from one task, which waits for the threads that read and write.
package final class TLSConnection: @unchecked Sendable {
    /// The server's certificate in DER form.
    package private(set) var certificate = Data()
    private let socket: Int32
    private var session: gnutls_session_t?
    private var credentials: gnutls_certificate_credentials_t?

    /// Connects and shakes hands; off the cooperative pool.
    /// - Parameter offer: versions and ciphers, in GnuTLS's words. Defaults to GnuTLS's own.
    package static func open(_ port: UInt16, offering offer: String? = nil) async throws -> TLSConnection {
        try await aside { try TLSConnection(port, offer) }
    }

    /// Connects, sends a request and reads the status of the reply. Blocks.
    /// - Parameter address: its own address, on loopback.
    package static func status(of request: String, port: UInt16, from address: String) throws -> Int? {
        let connection = try TLSConnection(port, nil, from: address)
        try TLSFailure.check(Int32(gnutls_record_send(connection.session, request, request.utf8.count)))
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var count = gnutls_record_recv(connection.session, &buffer, buffer.count)
        while count < 0, gnutls_error_is_fatal(Int32(count)) == 0 {
            count = gnutls_record_recv(connection.session, &buffer, buffer.count)
        }
        return RawReply(Data(buffer.prefix(max(0, count)))).status
    }

    /// A client's first message.
    package static let hello: Data = {
        var (session, credentials): (gnutls_session_t?, gnutls_certificate_credentials_t?) = (nil, nil)
        var ends: [Int32] = [0, 0]
        gnutls_certificate_allocate_credentials(&credentials)
        gnutls_init(&session, UInt32(GNUTLS_CLIENT) | UInt32(GNUTLS_NONBLOCK) | UInt32(GNUTLS_NO_SIGNAL))
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends)
        gnutls_set_default_priority(session)
        gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials.map { UnsafeMutableRawPointer($0) })
        gnutls_transport_set_int2(session, ends[0], ends[0])
        gnutls_handshake(session)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(ends[1], &buffer, buffer.count, 0)
        gnutls_deinit(session)
        gnutls_certificate_free_credentials(credentials)
        for end in ends { close(end) }
        return Data(buffer.prefix(max(0, count)))
    }()

    /// The negotiated parameters, such as `(TLS1.3)-(ECDHE-X25519)-(ECDSA-SECP256R1-SHA256)-(AES-256-GCM)`.
    package var agreement: String {
        guard let text = gnutls_session_get_desc(session) else { return "" }
        defer { free(text) }
        return String(cString: text)
    }

    /// Connects.
    static func connect(_ port: UInt16, from source: String = "127.0.0.1") throws -> Int32 {
        let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var own = sockaddr_in()
        own.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, source, &own.sin_addr)
        _ = withUnsafePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var patience = timeval(tv_sec: 900, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            defer { close(socket) }
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return socket
    }

    private init(_ port: UInt16, _ offer: String?, from source: String = "127.0.0.1") throws {
        socket = try Self.connect(port, from: source)
        try TLSFailure.check(gnutls_certificate_allocate_credentials(&credentials))
        // A client that sends over a closed connection gets an error, not a signal.
        try TLSFailure.check(gnutls_init(&session, UInt32(GNUTLS_CLIENT) | UInt32(GNUTLS_NO_SIGNAL)))
        try TLSFailure.check(
            offer.map { gnutls_priority_set_direct(session, $0, nil) } ?? gnutls_set_default_priority(session))
        try TLSFailure.check(
            gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials.map { UnsafeMutableRawPointer($0) }))
        gnutls_transport_set_int2(session, socket, socket)
        var handshake = gnutls_handshake(session)
        while handshake < 0, gnutls_error_is_fatal(handshake) == 0 { handshake = gnutls_handshake(session) }
        try TLSFailure.check(handshake)
        var count: UInt32 = 0
        if let first = gnutls_certificate_get_peers(session, &count), count > 0 {
            certificate = Data(bytes: first.pointee.data, count: Int(first.pointee.size))
        }
    }

    deinit {
        gnutls_deinit(session)
        gnutls_certificate_free_credentials(credentials)
        close(socket)
    }

    /// Sends a request and reads until the reply ends with a text, or the connection ends.
    package func ask(_ request: String, until end: String) async throws -> String {
        try await Self.aside { [self] in
            try TLSFailure.check(Int32(gnutls_record_send(session, request, request.utf8.count)))
            var reply = Data()
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while !reply.ends(with: Data(end.utf8)) {
                let count = gnutls_record_recv(session, &buffer, buffer.count)
                if count < 0, gnutls_error_is_fatal(Int32(count)) == 0 { continue }
                guard count > 0 else { break }
                reply += buffer.prefix(count)
            }
            return String(decoding: reply, as: UTF8.self)
        }
    }

    /// Sends bytes in records of a given size.
    package func send(_ bytes: Data, inRecordsOf count: Int) async throws {
        try await Self.aside { [self] in
            for start in stride(from: 0, to: bytes.count, by: count) {
                let record = bytes.dropFirst(start).prefix(count)
                try TLSFailure.check(
                    Int32(record.withUnsafeBytes { gnutls_record_send(session, $0.baseAddress, $0.count) }))
            }
        }
    }

    /// Sends bytes, and reads until the connection ends.
    package func exchange(_ bytes: Data) async throws -> Data {
        try await Self.aside { [self] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { gnutls_record_send(session, $0.baseAddress, $0.count) }
                // A server that refuses may stop reading.
                guard sent > 0 else { break }
                rest = rest.dropFirst(sent)
            }
            var (reply, buffer) = (Data(), [UInt8](repeating: 0, count: 16_384))
            while true {
                let count = gnutls_record_recv(session, &buffer, buffer.count)
                if count < 0, gnutls_error_is_fatal(Int32(count)) == 0 { continue }
                guard count > 0 else { return reply }
                reply += buffer.prefix(count)
            }
        }
    }

    static func aside<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        // Not a continuation: the thread sanitizer does not notice that a continuation hands a value over.
        let outcome = Promise<Value, any Error>()
        Thread.detachNewThread { outcome.resolve(Result(catching: work)) }
        return try await outcome.value
    }
}

extension Data {
    fileprivate func ends(with end: Data) -> Bool { suffix(end.count) == end }
}
