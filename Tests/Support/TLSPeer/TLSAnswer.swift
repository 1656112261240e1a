import CGnuTLS
import Foundation

/// A server on loopback that takes one connection by TLS, and ends it together with its one answer.
// Sound because the thread alone writes, before it signals.
package final class TLSAnswer: @unchecked Sendable {
    package let port: UInt16
    private let over = DispatchSemaphore(value: 0)
    private var failure: (any Error)?

    /// Listens.
    /// - Parameters:
    ///   - text: its answer to the first bytes that come.
    ///   - identity: the certificate that it shows.
    package init(_ text: String, as identity: SelfSigned) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isListening else {
            close(listener)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            let client = accept(listener, nil, nil)
            close(listener)
            do { try Self.answer(text, as: identity, client) } catch { failure = error }
            close(client)
            over.signal()
        }
    }

    /// Waits until answer and end are sent; off the cooperative pool.
    package func sent() async throws {
        try await TLSConnection.aside { [self] in
            over.wait()
            if let failure { throw failure }
        }
    }

    private static func answer(_ text: String, as identity: SelfSigned, _ client: Int32) throws {
        var (session, credentials): (gnutls_session_t?, gnutls_certificate_credentials_t?)
        try TLSFailure.check(gnutls_certificate_allocate_credentials(&credentials))
        defer { gnutls_certificate_free_credentials(credentials) }
        let (certificate, key) = (Data(identity.certificate.utf8), Data(identity.privateKey.utf8))
        try TLSFailure.check(
            certificate.withUnsafeDatum { certificate in
                key.withUnsafeDatum { key in
                    gnutls_certificate_set_x509_key_mem(credentials, certificate, key, GNUTLS_X509_FMT_PEM)
                }
            })
        try TLSFailure.check(gnutls_init(&session, UInt32(GNUTLS_SERVER) | UInt32(GNUTLS_NO_SIGNAL)))
        defer { gnutls_deinit(session) }
        try TLSFailure.check(gnutls_set_default_priority(session))
        try TLSFailure.check(
            gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials.map { UnsafeMutableRawPointer($0) }))
        gnutls_transport_set_int2(session, client, client)
        var handshake = gnutls_handshake(session)
        while handshake < 0, gnutls_error_is_fatal(handshake) == 0 { handshake = gnutls_handshake(session) }
        try TLSFailure.check(handshake)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        try TLSFailure.check(Int32(clamping: gnutls_record_recv(session, &buffer, buffer.count)))
        try TLSFailure.check(Int32(clamping: gnutls_record_send(session, text, text.utf8.count)))
        try TLSFailure.check(gnutls_bye(session, GNUTLS_SHUT_WR))
    }
}

extension Data {
    fileprivate func withUnsafeDatum<Value>(_ body: (UnsafePointer<gnutls_datum_t>) -> Value) -> Value {
        var copy = [UInt8](self)
        return copy.withUnsafeMutableBufferPointer { bytes in
            withUnsafePointer(to: gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count)), body)
        }
    }
}
