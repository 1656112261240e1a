#pragma once
// GnuTLS, which libmicrohttpd has its TLS from: certificates as handshakes use them.
#include <gnutls/gnutls.h>
#include <gnutls/abstract.h>
#include <gnutls/x509.h>

// Frees certificates and their list. Swift cannot call gnutls_free, a variable.
static inline void latchkey_tls_free(gnutls_x509_crt_t *certificates, unsigned int count) {
    for (unsigned int index = 0; index < count; index++) gnutls_x509_crt_deinit(certificates[index]);
    gnutls_free(certificates);
}

// A function that chooses a handshake's certificate, as libmicrohttpd takes it: a gnutls_certificate_retrieve_function2. Swift cannot
// give away a function as a plain pointer.
static inline const void *latchkey_tls_chooser(int (*choose)(gnutls_session_t, const gnutls_datum_t *, int,
                                                             const gnutls_pk_algorithm_t *, int, gnutls_pcert_st **,
                                                             unsigned int *, gnutls_privkey_t *)) {
    return (const void *)choose;
}
