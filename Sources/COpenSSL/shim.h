// libcrypto 3 as Swift can call it: the headers, and a typed function for each macro and variadic that this package uses.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

/// A new RSA key pair with exponent 65537; NULL on failure. The caller frees it with EVP_PKEY_free.
static inline EVP_PKEY *latchkey_rsa_generate(size_t bits) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits);
}

/// Makes a key operation use OAEP with SHA-1 for both hash and mask, and no label.
/// Naming the hash spares a lookup of the default in every operation.
static inline int latchkey_rsa_use_oaep_sha1(EVP_PKEY_CTX *context) {
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) > 0
        && EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha1()) > 0
        && EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha1()) > 0;
}

/// Whether a key is an RSA key (and not, say, RSA-PSS, which cannot decrypt).
static inline int latchkey_is_rsa(const EVP_PKEY *key) {
    return EVP_PKEY_is_a(key, "RSA");
}

/// The bytes that a memory BIO holds; they stay the BIO's.
static inline size_t latchkey_bio_contents(BIO *bio, const unsigned char **bytes) {
    char *start = NULL;
    long count = BIO_get_mem_data(bio, &start);
    *bytes = (const unsigned char *)start;
    return count > 0 ? (size_t)count : 0;
}

/// Prints a distinguished name in the order of RFC 2253, text as UTF-8.
static inline int latchkey_print_name(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, (XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) | XN_FLAG_SEP_CPLUS_SPC);
}

/// Makes a certificate one of version 3, which may carry extensions.
static inline int latchkey_x509_set_version3(X509 *certificate) {
    return X509_set_version(certificate, X509_VERSION_3);
}

/// Frees what libcrypto allocated for the caller.
static inline void latchkey_free(void *pointer) {
    OPENSSL_free(pointer);
}
