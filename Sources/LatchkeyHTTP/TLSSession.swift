import CGnuTLS
import Foundation
import LatchkeyCore

/// The server's TLS offer to clients: 1.3 and 1.2, keys agreed on for one connection over elliptic curves, and ciphers that authenticate
/// the data that they encrypt. `Documentation/Server/Operations.md` lists it.
// Sound because nothing changes it after `init`.
final class TLSOffer: @unchecked Sendable {
    /// GnuTLS's own words; its `NORMAL` would offer TLS 1.0, CBC, and keys that RSA carries.
    static let words =
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-256-GCM"
        + ":+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1"
        + ":%SERVER_PRECEDENCE"

    let priority: gnutls_priority_t

    /// - Throws: `httpTLS` for a GnuTLS that does not know the words.
    init() throws(Diagnosis) {
        var made: gnutls_priority_t?
        let status = gnutls_priority_init(&made, Self.words, nil)
        guard status >= 0, let made else {
            throw .tls(gnutls_strerror(status).map { String(cString: $0) } ?? "error \(status).")
        }
        priority = made
    }

    deinit { gnutls_priority_deinit(priority) }
}

/// The TLS of one connection. Its owner alone uses it, one call at a time, on any thread.
package final class TLSSession {
    /// The outcome of a call that does not wait.
    package enum Outcome {
        case done(Int)
        /// The socket is not ready.
        case later
        /// The other end has ended the connection.
        case ended
        case failed
    }

    private let session: gnutls_session_t
    // Objects that must live as long as the session.
    private let kept: [AnyObject]
    private let host: UnsafeMutablePointer<CChar>?

    /// A server's.
    /// - Returns: `nil` without memory.
    init?(_ identity: TLSIdentity, _ offer: TLSOffer, socket: Int32) {
        guard let session = latchkey_tls_serve(offer.priority, identity.credentials, socket) else { return nil }
        (self.session, kept, host) = (session, [identity, offer], nil)
    }

    /// A client's, which takes only a certificate that is trusted and the host's.
    /// - Parameters:
    ///   - trust: which certificates are trusted, and the client's own.
    ///   - name: the host as the certificate has to name it: a name or an address.
    ///   - socket: connected to the host, and does not wait.
    /// - Returns: `nil` without memory.
    package init?(_ trust: TLSTrust, to name: String, socket: Int32) {
        let isAddress = name.contains(":") || name.allSatisfy { $0 == "." || $0.isNumber }
        guard let host = strdup(name) else { return nil }
        guard let session = latchkey_tls_connect(trust.credentials, host, isAddress ? 0 : 1, socket) else {
            free(host)
            return nil
        }
        (self.session, kept, self.host) = (session, [trust], host)
    }

    deinit {
        gnutls_deinit(session)
        free(host)
    }

    /// Why the other end's certificate was refused, for a client; `nil` if it was not.
    package var refusal: String? {
        let status = UInt32(gnutls_session_get_verify_cert_status(session))
        guard status != 0, status != .max else { return nil }
        let reasons: [(gnutls_certificate_status_t, String)] = [
            (GNUTLS_CERT_UNEXPECTED_OWNER, "it names another host"), (GNUTLS_CERT_EXPIRED, "it has expired"),
            (GNUTLS_CERT_NOT_ACTIVATED, "it is not valid yet"), (GNUTLS_CERT_REVOKED, "it was revoked"),
            (GNUTLS_CERT_SIGNER_NOT_FOUND, "no trusted authority signed it"),
        ]
        return reasons.first { status & UInt32($0.0.rawValue) != 0 }?.1 ?? "it is not trusted"
    }

    /// After `later`, whether it is for the socket to take bytes, and not to have some.
    var waitsToWrite: Bool { gnutls_record_get_direction(session) == 1 }

    package func shakeHands() -> Outcome { outcome { Int(gnutls_handshake(session)) } }

    package func receive(_ bytes: UnsafeMutableRawBufferPointer) -> Outcome {
        let outcome = outcome { gnutls_record_recv(session, bytes.baseAddress, bytes.count) }
        if case .done(0) = outcome { return .ended }
        return outcome
    }

    /// After `later`, the next call has to begin with the same bytes.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        outcome { gnutls_record_send(session, bytes.baseAddress, min(bytes.count, 16_384)) }
    }

    /// Says that no more is sent, as far as the socket takes it immediately.
    func finish() { gnutls_bye(session, GNUTLS_SHUT_WR) }

    private func outcome(_ call: () -> Int) -> Outcome {
        // Warnings of the other end are not the end. It may not send them forever.
        for _ in 0..<8 {
            let status = call()
            if status >= 0 { return .done(status) }
            switch Int32(clamping: status) {
            case GNUTLS_E_AGAIN: return .later
            case GNUTLS_E_INTERRUPTED, GNUTLS_E_WARNING_ALERT_RECEIVED: continue
            case GNUTLS_E_PREMATURE_TERMINATION: return .ended
            default: return .failed
            }
        }
        return .failed
    }
}
