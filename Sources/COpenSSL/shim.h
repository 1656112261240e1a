// libcrypto 3 as Swift can call it: the headers, and a typed function for each macro and variadic that this package uses.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/objects.h>
#include <openssl/params.h>
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

/// Derives bytes with HKDF-SHA-256: extract and expand. `derivation` is the fetched algorithm "HKDF"; salt and info may be empty.
static inline int latchkey_hkdf_sha256(
    EVP_KDF *derivation, const unsigned char *key, size_t key_count, const unsigned char *salt, size_t salt_count,
    const unsigned char *info, size_t info_count, unsigned char *result, size_t count) {
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(derivation);
    if (context == NULL) return 0;
    OSSL_PARAM parameters[5];
    OSSL_PARAM *next = parameters;
    *next++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0);
    *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_count);
    if (salt_count > 0) *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count);
    if (info_count > 0) *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count);
    *next = OSSL_PARAM_construct_end();
    int is_done = EVP_KDF_derive(context, result, count, parameters);
    EVP_KDF_CTX_free(context);
    return is_done > 0;
}

/// Reads the 16-byte tag of a GCM encryption that has ended.
static inline int latchkey_gcm_get_tag(EVP_CIPHER_CTX *context, unsigned char *tag) {
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag);
}

/// Tells a GCM decryption the 16-byte tag that it has to find.
static inline int latchkey_gcm_set_tag(EVP_CIPHER_CTX *context, const unsigned char *tag) {
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)tag);
}

/// Frees what libcrypto allocated for the caller.
static inline void latchkey_free(void *pointer) {
    OPENSSL_free(pointer);
}
