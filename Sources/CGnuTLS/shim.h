#pragma once
// GnuTLS: certificates, and the TLS of a server's connections.
#include <gnutls/gnutls.h>
#include <gnutls/abstract.h>
#include <gnutls/x509.h>
#include <string.h>

// Frees certificates and their list. Swift cannot call gnutls_free, a variable.
static inline void latchkey_tls_free(gnutls_x509_crt_t *certificates, unsigned int count) {
    for (unsigned int index = 0; index < count; index++) gnutls_x509_crt_deinit(certificates[index]);
    gnutls_free(certificates);
}

// A session of a server over a socket that does not wait; NULL when there is none.
static inline gnutls_session_t latchkey_tls_serve(gnutls_priority_t priority, gnutls_certificate_credentials_t credentials,
                                                  int socket) {
    gnutls_session_t session = NULL;
    if (gnutls_init(&session, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0) return NULL;
    if (gnutls_priority_set(session, priority) < 0
        || gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials) < 0) {
        gnutls_deinit(session);
        return NULL;
    }
    gnutls_certificate_server_set_request(session, GNUTLS_CERT_IGNORE);
    gnutls_handshake_set_timeout(session, GNUTLS_INDEFINITE_TIMEOUT);
    gnutls_transport_set_int2(session, socket, socket);
    return session;
}

// A session of a client over a socket that does not wait, which takes only a trusted certificate of that host; NULL when there is none.
// The host's text has to live as long as the session.
static inline gnutls_session_t latchkey_tls_connect(gnutls_certificate_credentials_t credentials, const char *host, int has_name,
                                                    int socket) {
    gnutls_session_t session = NULL;
    if (gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0) return NULL;
    if (gnutls_priority_set_direct(session, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", NULL) < 0
        || gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials) < 0
        || (has_name && gnutls_server_name_set(session, GNUTLS_NAME_DNS, host, strlen(host)) < 0)) {
        gnutls_deinit(session);
        return NULL;
    }
    gnutls_session_set_verify_cert(session, host, 0);
    gnutls_handshake_set_timeout(session, GNUTLS_INDEFINITE_TIMEOUT);
    gnutls_transport_set_int2(session, socket, socket);
    return session;
}
