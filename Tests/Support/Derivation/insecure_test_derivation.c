// A licensee's library as tests build it: InsecureTestDerivation in C. It is not Apple's function and protects nothing.
//
//   cc -shared -fPIC -I Sources/CLatchkeyDerivation Tests/Support/Derivation/insecure_test_derivation.c -lcrypto -o libtest.so
//
// Macros leave things out or break them, for the tests of what a server refuses.
#include "latchkey_derivation.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#ifndef VERSION
#define VERSION LATCHKEY_DERIVATION_VERSION
#endif

#ifndef NO_VERSION
uint32_t latchkey_derivation_version(void) { return VERSION; }
#endif

static int32_t derive(const uint8_t *r2, const uint8_t *ask, uint8_t *dask) {
    uint8_t message[18 + LATCHKEY_R2_SIZE], digest[EVP_MAX_MD_SIZE];
    memcpy(message, "latchkey-test-only", 18);
    memcpy(message + 18, r2, LATCHKEY_R2_SIZE);
    if (HMAC(EVP_sha256(), ask, LATCHKEY_ASK_SIZE, message, sizeof message, digest, NULL) == NULL) return LATCHKEY_FAILED;
    memcpy(dask, digest, LATCHKEY_DASK_SIZE);
    return LATCHKEY_OK;
}

#ifndef NO_DERIVE
int32_t latchkey_derivation_derive(
    const uint8_t r2[LATCHKEY_R2_SIZE], const uint8_t *ask, const uint8_t certificate_sha1[LATCHKEY_SHA1_SIZE],
    uint8_t dask[LATCHKEY_DASK_SIZE]) {
    (void)certificate_sha1;
#ifdef DERIVE_RETURNS
    return DERIVE_RETURNS;
#else
    return ask == NULL ? LATCHKEY_NO_SECRET : derive(r2, ask, dask);
#endif
}
#endif

#ifndef NO_SELF_TEST
int32_t latchkey_derivation_self_test(void) {
    static const uint8_t ask[LATCHKEY_ASK_SIZE] = {0}, r2[LATCHKEY_R2_SIZE] = {0};
    // HMAC-SHA-256 of "latchkey-test-only" and 21 zeros with a key of 16 zeros, computed in Python.
    static const uint8_t expected[LATCHKEY_DASK_SIZE] = {
        0xeb, 0x03, 0x86, 0x8a, 0xc0, 0x30, 0x00, 0xd6,
        0xde, 0xd8, 0x2b, 0xfe, 0x48, 0x32, 0xc6, 0x52,
    };
    uint8_t dask[LATCHKEY_DASK_SIZE];
    if (derive(r2, ask, dask) != LATCHKEY_OK) return LATCHKEY_FAILED;
    #ifdef SELF_TEST_FAILS
    dask[0] ^= 1;
#endif
    return memcmp(dask, expected, sizeof dask) == 0 ? LATCHKEY_OK : 77;
}
#endif

// An opener of the layout of version 1 with another version's number. It says nothing about Apple's versions 2 and 3.
#ifdef WITH_OPENER
#ifndef HALF_AN_OPENER
uint32_t latchkey_spc_versions(void) { return 1u << 3; }
#endif

int32_t latchkey_spc_open(
    const uint8_t *spc, size_t spc_count, latchkey_unwrap unwrap, void *context, uint8_t *payload, size_t *payload_count) {
    if (spc_count < 176 || (spc_count - 176) % 16 != 0) return LATCHKEY_FAILED;
    uint8_t key[128];
    size_t key_count = sizeof key;
    int32_t result = unwrap(context, spc + 152, spc + 24, 128, key, &key_count);
    if (result != LATCHKEY_OK) return result;
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int count = 0;
    int good = cipher && key_count == 16 && EVP_DecryptInit_ex(cipher, EVP_aes_128_cbc(), NULL, key, spc + 8)
        && EVP_CIPHER_CTX_set_padding(cipher, 0) && EVP_DecryptUpdate(cipher, payload, &count, spc + 176, (int)spc_count - 176);
    EVP_CIPHER_CTX_free(cipher);
    *payload_count = (size_t)count;
#ifdef PAYLOAD_COUNT
    *payload_count = PAYLOAD_COUNT;
#endif
    return good ? LATCHKEY_OK : LATCHKEY_FAILED;
}
#endif
