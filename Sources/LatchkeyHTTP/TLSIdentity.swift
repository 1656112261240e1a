import CGnuTLS
package import Foundation
package import LatchkeyCore

/// A certificate chain and its private key, read and checked, in the form that handshakes use.
// Sound because nothing changes it after `init`, and GnuTLS only reads the values that a handshake gets.
package final class TLSIdentity: @unchecked Sendable {
    /// The SHA-1 of the first certificate, in hexadecimal.
    package let sha1: String
    /// When the dates of the first certificate begin and end.
    package let notBefore, notAfter: Date
    let credentials: gnutls_certificate_credentials_t

    /// - Parameter tls: PEM text.
    /// - Throws: `httpTLS` for text that cannot be read, and for a key that is not the first certificate's.
    package init(_ tls: HTTPServerConfiguration.TLS) throws(Diagnosis) {
        (sha1, notBefore, notAfter) = try Self.facts(of: tls.certificate)
        var made: gnutls_certificate_credentials_t?
        try Self.succeed(gnutls_certificate_allocate_credentials(&made))
        guard let made else { throw .tls("Memory for the certificate is exhausted.") }
        do throws(Diagnosis) {
            // Compares both, too.
            try Self.succeed(
                Self.withDatum(tls.certificate) { certificate in
                    Self.withDatum(tls.privateKey) { key in
                        gnutls_certificate_set_x509_key_mem2(made, certificate, key, GNUTLS_X509_FMT_PEM, nil, 0)
                    }
                })
        } catch {
            gnutls_certificate_free_credentials(made)
            throw error
        }
        credentials = made
    }

    deinit { gnutls_certificate_free_credentials(credentials) }

    private static func facts(
        of text: String
    ) throws(Diagnosis) -> (sha1: String, notBefore: Date, notAfter: Date) {
        var read: UnsafeMutablePointer<gnutls_x509_crt_t?>?
        var count: UInt32 = 0
        try succeed(withDatum(text) { gnutls_x509_crt_list_import2(&read, &count, $0, GNUTLS_X509_FMT_PEM, 0) })
        guard let read else { throw .tls("There is no certificate.") }
        defer { latchkey_tls_free(read, count) }
        guard count > 0 else { throw .tls("There is no certificate.") }
        return facts(of: read[0])
    }

    private static func facts(of certificate: gnutls_x509_crt_t?) -> (sha1: String, notBefore: Date, notAfter: Date) {
        var digest = [UInt8](repeating: 0, count: 20)
        var count = digest.count
        gnutls_x509_crt_get_fingerprint(certificate, GNUTLS_DIG_SHA1, &digest, &count)
        return (
            digest.hexString,
            Date(timeIntervalSince1970: Double(gnutls_x509_crt_get_activation_time(certificate))),
            Date(timeIntervalSince1970: Double(gnutls_x509_crt_get_expiration_time(certificate)))
        )
    }

    static func succeed(_ status: Int32) throws(Diagnosis) {
        guard status < 0 else { return }
        throw .tls(gnutls_strerror(status).map { String(cString: $0) } ?? "error \(status).")
    }

    static func withDatum(_ text: String, _ body: (UnsafePointer<gnutls_datum_t>) -> Int32) -> Int32 {
        var bytes = Array(text.utf8) + [0]
        return bytes.withUnsafeMutableBufferPointer { bytes in
            var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count - 1))
            return body(&datum)
        }
    }
}
