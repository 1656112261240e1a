import CGnuTLS
package import Foundation
import LatchkeyCore

/// A certificate chain and its private key, read and checked, in the form that handshakes use.
// Sound because nothing changes it after `init`, and GnuTLS only reads what a handshake is handed.
package final class TLSIdentity: @unchecked Sendable {
    /// The most certificates that GnuTLS takes of one chain.
    private static let longestChain = 16

    /// The SHA-1 of the first certificate, in hexadecimal.
    package let sha1: String
    /// When the dates of the first certificate begin and end.
    package let notBefore, notAfter: Date
    /// The chain; the server's certificate is first.
    let certificates: UnsafeMutableBufferPointer<gnutls_pcert_st>
    let key: gnutls_privkey_t

    /// - Parameter tls: PEM text.
    /// - Throws: `httpTLS` for text that cannot be read, and for a key that is not the first certificate's.
    package init(_ tls: HTTPServerConfiguration.TLS) throws(HTTPServerError) {
        try Self.check(tls)
        let first: (sha1: String, notBefore: Date, notAfter: Date)
        (certificates, first) = try Self.chain(tls.certificate)
        (sha1, notBefore, notAfter) = first
        do throws(HTTPServerError) {
            key = try Self.key(tls.privateKey)
        } catch {
            Self.free(certificates)
            throw error
        }
    }

    deinit {
        Self.free(certificates)
        gnutls_privkey_deinit(key)
    }

    /// Has GnuTLS read both and compare them, as it would for a server that never changes them.
    private static func check(_ tls: HTTPServerConfiguration.TLS) throws(HTTPServerError) {
        var credentials: gnutls_certificate_credentials_t?
        try succeed(gnutls_certificate_allocate_credentials(&credentials))
        defer { gnutls_certificate_free_credentials(credentials) }
        try succeed(
            withDatum(tls.certificate) { certificate in
                withDatum(tls.privateKey) { key in
                    gnutls_certificate_set_x509_key_mem2(credentials, certificate, key, GNUTLS_X509_FMT_PEM, nil, 0)
                }
            })
    }

    private static func chain(_ text: String) throws(HTTPServerError) -> (
        UnsafeMutableBufferPointer<gnutls_pcert_st>, (sha1: String, notBefore: Date, notAfter: Date)
    ) {
        var read: UnsafeMutablePointer<gnutls_x509_crt_t?>?
        var readCount: UInt32 = 0
        try succeed(
            withDatum(text) { gnutls_x509_crt_list_import2(&read, &readCount, $0, GNUTLS_X509_FMT_PEM, 0) })
        guard let read else { throw .tls("There is no certificate.") }
        defer { latchkey_tls_free(read, readCount) }
        var count = min(readCount, UInt32(longestChain))
        guard count > 0 else { throw .tls("There is no certificate.") }
        let first = facts(of: read[0])
        let chain = UnsafeMutablePointer<gnutls_pcert_st>.allocate(capacity: Int(count))
        chain.initialize(repeating: gnutls_pcert_st(), count: Int(count))
        do throws(HTTPServerError) {
            try succeed(
                gnutls_pcert_import_x509_list(chain, read, &count, UInt32(GNUTLS_X509_CRT_LIST_SORT.rawValue)))
        } catch {
            chain.deallocate()
            throw error
        }
        return (UnsafeMutableBufferPointer(start: chain, count: Int(count)), first)
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

    private static func key(_ text: String) throws(HTTPServerError) -> gnutls_privkey_t {
        var key: gnutls_privkey_t?
        try succeed(gnutls_privkey_init(&key))
        guard let key else { throw .tls("There is no memory for the key.") }
        do throws(HTTPServerError) {
            try succeed(withDatum(text) { gnutls_privkey_import_x509_raw(key, $0, GNUTLS_X509_FMT_PEM, nil, 0) })
        } catch {
            gnutls_privkey_deinit(key)
            throw error
        }
        return key
    }

    private static func free(_ certificates: UnsafeMutableBufferPointer<gnutls_pcert_st>) {
        for index in certificates.indices { gnutls_pcert_deinit(&certificates[index]) }
        certificates.deallocate()
    }

    private static func succeed(_ status: Int32) throws(HTTPServerError) {
        guard status < 0 else { return }
        throw .tls(gnutls_strerror(status).map { String(cString: $0) } ?? "error \(status).")
    }

    private static func withDatum(_ text: String, _ body: (UnsafePointer<gnutls_datum_t>) -> Int32) -> Int32 {
        var bytes = Array(text.utf8) + [0]
        return bytes.withUnsafeMutableBufferPointer { bytes in
            var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count - 1))
            return body(&datum)
        }
    }
}
