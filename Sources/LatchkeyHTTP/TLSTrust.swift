import CGnuTLS
package import LatchkeyCore

/// Which certificates of servers a client trusts, and its own.
// Sound because nothing changes it after `init`, and GnuTLS only reads the values that a handshake gets.
package final class TLSTrust: @unchecked Sendable {
    let credentials: gnutls_certificate_credentials_t

    /// - Parameters:
    ///   - authorities: the authorities that are trusted, as PEM text; `nil` for the system's.
    ///   - identity: the client's certificate and key; `nil` for none.
    /// - Throws: `httpTLS` for text that cannot be read, and for a key that is not the certificate's.
    package init(authorities: String?, identity: HTTPServerConfiguration.TLS? = nil) throws(Diagnosis) {
        var made: gnutls_certificate_credentials_t?
        try TLSIdentity.succeed(gnutls_certificate_allocate_credentials(&made))
        guard let made else { throw .tls("Memory for the certificate is exhausted.") }
        do throws(Diagnosis) {
            try Self.fill(made, authorities, identity)
        } catch {
            gnutls_certificate_free_credentials(made)
            throw error
        }
        credentials = made
    }

    deinit { gnutls_certificate_free_credentials(credentials) }

    private static func fill(
        _ credentials: gnutls_certificate_credentials_t, _ authorities: String?,
        _ identity: HTTPServerConfiguration.TLS?
    ) throws(Diagnosis) {
        if let authorities {
            let count = TLSIdentity.withDatum(authorities) {
                gnutls_certificate_set_x509_trust_mem(credentials, $0, GNUTLS_X509_FMT_PEM)
            }
            try TLSIdentity.succeed(count)
            guard count > 0 else { throw .tls("There is no certificate authority.") }
        } else {
            try TLSIdentity.succeed(gnutls_certificate_set_x509_system_trust(credentials))
        }
        guard let identity else { return }
        try TLSIdentity.succeed(
            TLSIdentity.withDatum(identity.certificate) { certificate in
                TLSIdentity.withDatum(identity.privateKey) { key in
                    gnutls_certificate_set_x509_key_mem2(credentials, certificate, key, GNUTLS_X509_FMT_PEM, nil, 0)
                }
            })
    }
}
