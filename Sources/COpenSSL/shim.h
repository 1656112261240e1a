// libcrypto 3 as Swift can call it: the headers, and a typed function for each macro and variadic that this package uses.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/objects.h>
#include <openssl/param_build.h>
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

/// A new key pair on a curve, such as "P-256"; NULL on failure. The caller frees it with EVP_PKEY_free.
static inline EVP_PKEY *latchkey_ec_generate(const char *curve) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve);
}

/// A new Ed25519 key pair; NULL on failure. The caller frees it with EVP_PKEY_free.
static inline EVP_PKEY *latchkey_ed25519_generate(void) {
    return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
}

/// Whether a key is of a type, such as "EC" or "ED25519".
static inline int latchkey_is_a(const EVP_PKEY *key, const char *type) {
    return EVP_PKEY_is_a(key, type);
}

/// A public key of a type from its parameters, checked; NULL on failure. The caller frees it with EVP_PKEY_free.
static inline EVP_PKEY *latchkey_public_key(const char *type, OSSL_PARAM *parameters) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    int good = context && EVP_PKEY_fromdata_init(context) == 1
        && EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) == 1;
    EVP_PKEY_CTX_free(context);
    if (good) {
        EVP_PKEY_CTX *check = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
        good = check && EVP_PKEY_public_check(check) == 1;
        EVP_PKEY_CTX_free(check);
    }
    if (good) return key;
    EVP_PKEY_free(key);
    return NULL;
}

/// The RSA public key of a modulus and an exponent, big-endian; NULL on failure. The caller frees it with EVP_PKEY_free.
static inline EVP_PKEY *latchkey_rsa_public(
    const unsigned char *modulus, int modulus_size, const unsigned char *exponent, int exponent_size) {
    EVP_PKEY *key = NULL;
    BIGNUM *n = BN_bin2bn(modulus, modulus_size, NULL);
    BIGNUM *e = BN_bin2bn(exponent, exponent_size, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (n && e && builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1) {
        OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
        if (parameters) key = latchkey_public_key("RSA", parameters);
        OSSL_PARAM_free(parameters);
    }
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return key;
}

/// The public key of an uncompressed point of a curve; NULL unless it is one. The caller frees it with EVP_PKEY_free.
static inline EVP_PKEY *latchkey_ec_public(const char *curve, const unsigned char *point, size_t size) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, size),
        OSSL_PARAM_construct_end(),
    };
    return latchkey_public_key("EC", parameters);
}

/// A number among an RSA key's parameters, "n" or "e", big-endian: its length, or 0 on failure or for lack of room.
static inline size_t latchkey_key_number(const EVP_PKEY *key, const char *name, unsigned char *bytes, size_t room) {
    BIGNUM *number = NULL;
    if (EVP_PKEY_get_bn_param(key, name, &number) != 1) return 0;
    size_t count = (size_t)BN_num_bytes(number);
    if (count <= room) BN_bn2bin(number, bytes);
    BN_free(number);
    return count <= room ? count : 0;
}

/// Makes a signature operation use PSS, with a salt as long as the hash and MGF1 with the same hash.
static inline int latchkey_rsa_use_pss(EVP_PKEY_CTX *context, const EVP_MD *hash) {
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) > 0
        && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) > 0
        && EVP_PKEY_CTX_set_rsa_mgf1_md(context, hash) > 0;
}

/// Writes a number among a private key's parameters little-endian into so many bytes, and erases the copy; 0 if it does not fit.
static inline int latchkey_key_words(const EVP_PKEY *key, const char *name, unsigned char *bytes, int count) {
    BIGNUM *number = NULL;
    if (EVP_PKEY_get_bn_param(key, name, &number) != 1) return 0;
    int written = BN_bn2lebinpad(number, bytes, count);
    BN_clear_free(number);
    return written == count;
}

/// Takes OAEP with SHA-1 for hash and mask and an empty label off what RSA decrypted, in constant time.
/// `bytes` and `plain` are as long as the modulus. The length of the message, or -1.
static inline int latchkey_oaep_sha1_remove(const unsigned char *bytes, int count, unsigned char *plain) {
    // There is no other way to the padding alone; RSA_NO_PADDING and this are what EVP_PKEY_decrypt does itself.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return RSA_padding_check_PKCS1_OAEP_mgf1(plain, count, bytes, count, count, NULL, 0, EVP_sha1(), EVP_sha1());
#pragma GCC diagnostic pop
}
