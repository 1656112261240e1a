// A stand-in for the three functions of Intel's crypto_mb that the server calls, by libcrypto's numbers, for any processor. Macros break it.
#include <openssl/bn.h>
#include <stdint.h>
#include <string.h>

#ifndef APPLICABLE
#define APPLICABLE 1
#endif

#ifndef NO_APPLICABLE
int mbx_is_crypto_mb_applicable(uint64_t features) { return features == 0 && APPLICABLE; }
#endif

#ifdef CONFIRMED_LANE
#define WRONG_LANE CONFIRMED_LANE
static _Thread_local uint8_t confirmed[512];
#endif

static BIGNUM *number(const uint64_t *words, int bits) { return BN_lebin2bn((const unsigned char *)words, bits / 8, NULL); }

#ifndef NO_CHECK
uint32_t mbx_rsa_public_mb8(
    const uint8_t *const from[8], uint8_t *const to[8], const uint64_t *const n[8], int bits, const void *method,
    uint8_t *buffer) {
    uint32_t status = 0;
    for (int lane = 0; lane < 8; lane++) {
        BN_CTX *context = BN_CTX_new();
        BIGNUM *text = BN_bin2bn(from[lane], bits / 8, NULL), *e = BN_new(), *N = number(n[lane], bits);
        BN_set_word(e, 65537);
        BN_mod_exp(text, text, e, N, context);
        if (method || buffer || BN_bn2binpad(text, to[lane], bits / 8) != bits / 8) status |= 1u << (4 * lane);
#ifdef CONFIRMED_LANE
        if (lane == CONFIRMED_LANE) memcpy(to[lane], confirmed, bits / 8);
#endif
        BN_clear_free(text);
        BN_clear_free(e);
        BN_clear_free(N);
        BN_CTX_free(context);
    }
    return status;
}
#endif

#ifndef NO_DECRYPT
uint32_t mbx_rsa_private_crt_mb8(
    const uint8_t *const from[8], uint8_t *const to[8], const uint64_t *const p[8], const uint64_t *const q[8],
    const uint64_t *const dp[8], const uint64_t *const dq[8], const uint64_t *const iq[8], int bits, const void *method,
    uint8_t *buffer) {
    uint32_t status = 0;
    for (int lane = 0; lane < 8; lane++) {
        BN_CTX *context = BN_CTX_new();
        BIGNUM *text = BN_bin2bn(from[lane], bits / 8, NULL), *one = BN_new(), *other = BN_new();
        BIGNUM *P = number(p[lane], bits / 2), *Q = number(q[lane], bits / 2), *D = number(dp[lane], bits / 2);
        BIGNUM *E = number(dq[lane], bits / 2), *I = number(iq[lane], bits / 2);
        BN_mod_exp(one, text, D, P, context);
        BN_mod_exp(other, text, E, Q, context);
        BN_mod_sub(one, one, other, P, context);
        BN_mod_mul(one, one, I, P, context);
        BN_mul(one, one, Q, context);
        BN_add(one, one, other);
        if (method || buffer || BN_bn2binpad(one, to[lane], bits / 8) != bits / 8) status |= 1u << (4 * lane);
#ifdef CONFIRMED_LANE
        if (lane == CONFIRMED_LANE) memcpy(confirmed, from[lane], bits / 8);
#endif
#ifdef WRONG_LANE
        if (lane == WRONG_LANE) to[lane][bits / 8 - 1] ^= 1;
#endif
#ifdef FAILED_LANE
        if (lane == FAILED_LANE) {
            memset(to[lane], 0, bits / 8);
            status |= 4u << (4 * lane);
        }
#endif
        BIGNUM *all[] = {text, one, other, P, Q, D, E, I};
        for (int index = 0; index < 8; index++) BN_clear_free(all[index]);
        BN_CTX_free(context);
    }
    return status;
}
#endif
