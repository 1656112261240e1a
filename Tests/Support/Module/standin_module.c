// A stand-in for Apple's key server module: the public facts of Documentation/Licensees.md §6, and no more. It answers SPCs of this
// project's test credentials with InsecureTestDerivation. It says nothing about Apple's code.
//
//   cc -shared -fPIC -I Sources/CLatchkeyDerivation Tests/Support/Module/standin_module.c -lcrypto -o libtest.so
//
// The first part of the asset id, as in skd://crash/KID, has it fail as real code may. Macros leave things out.
#include "../Derivation/insecure_test_derivation.c"

#include <ctype.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { VERSION_STATUS = -42580, PARSER = -42581, MISSING = -42583, PARAMETERS = -42585, CREDENTIALS = -42586, INTEGRITY = -42601 };

// MARK: - JSON: a value is a range of the text.

typedef struct { const char *at, *end; } text;

static void blanks(text *t) { while (t->at < t->end && strchr(" \t\r\n", *t->at)) t->at++; }

static int string(text *t) {
    if (t->at == t->end || *t->at++ != '"') return 0;
    for (; t->at < t->end && *t->at != '"'; t->at++) if (*t->at == '\\') t->at++;
    return t->at < t->end && *t->at++ == '"';
}

// Skips a value; with a name, finds an object's member or, with an index, an array's element.
static int value(text *t, const char *name, int index, text *found) {
    blanks(t);
    if (t->at == t->end) return 0;
    char open = *t->at, close = open == '{' ? '}' : ']';
    if (open == '"') return string(t);
    if (open != '{' && open != '[') {
        const char *start = t->at;
        while (t->at < t->end && (isalnum((unsigned char)*t->at) || strchr("+-.", *t->at))) t->at++;
        return t->at > start;
    }
    t->at++;
    for (int count = 0;; count++) {
        blanks(t);
        if (t->at < t->end && *t->at == close) { t->at++; return 1; }
        if (count && (t->at == t->end || *t->at++ != ',')) return 0;
        blanks(t);
        text key = {t->at, t->end};
        if (open == '{') {
            if (!string(t)) return 0;
            key.end = t->at;
            blanks(t);
            if (t->at == t->end || *t->at++ != ':') return 0;
        }
        blanks(t);
        text inner = {t->at, t->end};
        if (!value(t, NULL, -1, NULL)) return 0;
        inner.end = t->at;
        size_t length = name ? strlen(name) : 0;
        int is_key = open == '{' && name && (size_t)(key.end - key.at) == length + 2 && !memcmp(key.at + 1, name, length);
        if (found && (is_key || (open == '[' && index == count))) *found = inner;
    }
}

static int member(text object, const char *name, text *found) {
    *found = (text){NULL, NULL};
    return value(&object, name, -1, found) && found->at;
}

static int element(text array, int index, text *found) {
    *found = (text){NULL, NULL};
    return value(&array, NULL, index, found) && found->at;
}

// Bytes of a text in base64; -1 for anything else.
static int bytes_of(text t, uint8_t *bytes, int most) {
    int count = (int)(t.end - t.at) - 2, padding = 0;
    if (count <= 0 || *t.at != '"' || count % 4 || count / 4 * 3 > most) return -1;
    while (padding < 2 && t.end[-2 - padding] == '=') padding++;
    return EVP_DecodeBlock(bytes, (const uint8_t *)t.at + 1, count) - padding;
}

// MARK: - The exchange

static int aes(int encrypts, const uint8_t *key, const uint8_t *iv, uint8_t *bytes, int count) {
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int written = 0;
    int good = cipher && EVP_CipherInit_ex(cipher, iv ? EVP_aes_128_cbc() : EVP_aes_128_ecb(), NULL, key, iv, encrypts)
        && EVP_CIPHER_CTX_set_padding(cipher, 0) && EVP_CipherUpdate(cipher, bytes, &written, bytes, count);
    EVP_CIPHER_CTX_free(cipher);
    return good;
}

static EVP_PKEY *private_key;
static uint8_t ask[LATCHKEY_ASK_SIZE];

static int load(void) {
    if (private_key) return 1;
    char path[4096];
    const char *folder = getenv("FAIRPLAY_CREDENTIALS_PATH");
    if (!folder) return 0;
    snprintf(path, sizeof path, "%s/ask.hex", folder);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    for (int i = 0; i < LATCHKEY_ASK_SIZE; i++) {
        unsigned byte = 0;
        if (fscanf(file, "%2x", &byte) != 1) { fclose(file); return 0; }
        ask[i] = (uint8_t)byte;
    }
    fclose(file);
    snprintf(path, sizeof path, "%s/private-key.pem", folder);
    file = fopen(path, "r");
    if (!file) return 0;
    private_key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    fclose(file);
    return private_key != NULL;
}

static uint32_t number(const uint8_t *at) { return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]; }
static void put(uint8_t *at, uint32_t number) { for (int i = 0; i < 4; i++) at[i] = (uint8_t)(number >> (24 - 8 * i)); }

static uint64_t tag_of(const uint8_t *at) { return (uint64_t)number(at) << 32 | number(at + 4); }

// A block's place in a payload, with its header of 16 bytes; NULL if it is missing.
static const uint8_t *block(const uint8_t *payload, int count, uint64_t tag) {
    for (int at = 0; at + 16 <= count;) {
        uint32_t length = number(payload + at + 8);
        if (length > (uint32_t)(count - at - 16) || number(payload + at + 12) > length) return NULL;
        if (tag_of(payload + at) == tag) return payload + at;
        at += 16 + (int)length;
    }
    return NULL;
}

static int add(uint8_t *ckc, int count, uint64_t tag, const uint8_t *bytes, uint32_t length) {
    uint32_t padded = (length + 15) / 16 * 16;
    put(ckc + count, (uint32_t)(tag >> 32));
    put(ckc + count + 4, (uint32_t)tag);
    put(ckc + count + 8, padded);
    put(ckc + count + 12, length);
    memset(ckc + count + 16, 0, padded);
    memcpy(ckc + count + 16, bytes, length);
    return count + 16 + (int)padded;
}

typedef struct { uint8_t key[16], iv[16]; double lease; int has_lease; } terms;

// Opens an SPC, and makes its CKC. The asset id ends with a zero.
static int exchange(uint8_t *spc, int spc_count, const terms *terms, char asset[256], uint8_t *ckc, int *ckc_count) {
    if (!load()) return CREDENTIALS;
    if (spc_count < 8) return PARSER;
    if (number(spc) < 1 || number(spc) > 3) return VERSION_STATUS;
    size_t wrapped = (size_t)EVP_PKEY_size(private_key), key_count = 256;
    if ((size_t)spc_count < 48 + wrapped) return PARSER;
    uint8_t key[256], *payload = spc + 48 + wrapped;
    int count = spc_count - 48 - (int)wrapped;
    if (count % 16 || number(payload - 4) != (uint32_t)count) return PARSER;
    EVP_PKEY_CTX *rsa = EVP_PKEY_CTX_new(private_key, NULL);
    int opened = rsa && EVP_PKEY_decrypt_init(rsa) > 0 && EVP_PKEY_CTX_set_rsa_padding(rsa, RSA_PKCS1_OAEP_PADDING) > 0
        && EVP_PKEY_decrypt(rsa, key, &key_count, spc + 24, wrapped) > 0 && key_count == 16;
    EVP_PKEY_CTX_free(rsa);
    if (!opened) return CREDENTIALS;
    if (!aes(0, key, spc + 8, payload, count)) return PARSER;

    const uint8_t *session = block(payload, count, 0x3d1a10b8bffac2ec), *whole = block(payload, count, 0xb349d4809e910687),
        *seed = block(payload, count, 0x89c90f12204106b2), *r2 = block(payload, count, 0x71b5595ac1521133),
        *name = block(payload, count, 0x1bf7f53f5d5d5a1f), *returns = block(payload, count, 0x19f9d4e5ab7609cb);
    if (!session || !whole || !seed || !r2 || !name || !returns) return MISSING;
    uint32_t length = number(name + 12);
    if (length > 200 || number(session + 12) != 112 || number(whole + 12) != 16 || number(r2 + 12) != 21) return PARSER;
    memcpy(asset, name + 16, length);
    asset[length] = 0;
    uint8_t dask[16], sk[96], digest[20], wrapped_key[32], rk[16];
    if (derive(r2 + 16, ask, dask) != LATCHKEY_OK) return PARAMETERS;
    memcpy(sk, session + 32, 96);
    if (!aes(0, dask, session + 16, sk, 96) || memcmp(sk + 80, whole + 16, 16)) return INTEGRITY;

    memset(ckc, 0, 28);
    put(ckc, 1);
    if (RAND_bytes(ckc + 8, 16) != 1) return PARAMETERS;
    int end = 28;
    memcpy(wrapped_key, terms->iv, 16);
    memcpy(wrapped_key + 16, terms->key, 16);
    aes(1, sk, NULL, wrapped_key + 16, 16);
    end = add(ckc, end, 0x58b38165af0e3d5a, wrapped_key, 32);
    end = add(ckc, end, 0xea74c4645d5efee9, sk + 36, 44);
    for (uint32_t at = 0; at + 8 <= number(returns + 12); at += 8) {
        const uint8_t *asked = block(payload, count, tag_of(returns + 16 + at));
        if (!asked) return MISSING;
        int size = 16 + (int)number(asked + 8);
        if (end + size > 8000) return PARSER;
        memcpy(ckc + end, asked, (size_t)size);
        end += size;
    }
    if (terms->has_lease && block(payload, count, 0xeb8efdf2b25ab3a0)) {
        uint8_t duration[16] = {0};
        put(duration, (uint32_t)terms->lease);
        put(duration + 8, 0x1a4bde7e);
        put(duration + 12, 0x86d34a3a);
        end = add(ckc, end, 0x47acf6a418cd091a, duration, 16);
    }
    put(ckc + 24, (uint32_t)(end - 28));
    SHA1(sk + 36, 44, digest);
    memcpy(rk, seed + 16, 16);
    aes(1, digest, NULL, rk, 16);
    aes(1, rk, ckc + 8, ckc + 28, end - 28);
    *ckc_count = end;
    return 0;
}

// MARK: - The interface

static int is(const char *asset, const char *mode) {
    char part[64];
    snprintf(part, sizeof part, "://%s/", mode);
    return strstr(asset, part) != NULL;
}

// Appends an item of the response.
static int item(text item, BIO *out) {
    text id, t;
    static uint8_t spc[1 << 17], ckc[8192], base64[1 << 14];
    char asset[256] = "";
    terms terms = {0};
    int count = 0, ckc_count = 0, status = 0;
    if (!member(item, "id", &id)) return 0;
    if (!member(item, "ck", &t) || bytes_of(t, base64, 18) != 16) status = PARAMETERS;
    memcpy(terms.key, base64, 16);
    if (member(item, "x-iv", &t) && bytes_of(t, base64, 18) == 16) memcpy(terms.iv, base64, 16);
    if (member(item, "lease-duration", &t)) { terms.has_lease = 1; terms.lease = strtod(t.at, NULL); }
    if (!member(item, "asset-id", &t) || !member(item, "content-id", &t)) status = PARAMETERS;
    if (!member(item, "spc", &t) || (count = bytes_of(t, spc, sizeof spc)) < 0) status = PARAMETERS;
    if (!status) status = exchange(spc, count, &terms, asset, ckc, &ckc_count);

    if (is(asset, "crash")) abort();
    if (is(asset, "hang")) for (;;) pause();
    if (is(asset, "slow")) usleep(20000);
    if (is(asset, "garbage")) return 0;
    if (is(asset, "none")) return 1;
    if (is(asset, "print")) { printf("{}"); fflush(stdout); }
    if (is(asset, "wrong")) strcpy(asset, "skd://another/asset");
    if (is(asset, "big")) for (int i = 0; i < 100000; i++) BIO_puts(out, "          ");
    const char *stated = strstr(asset, "://status-");
    if (stated) status = -atoi(stated + 10);
    BIO_printf(out, "{\"id\":%.*s,\"status\":%d", is(asset, "noid") ? 1 : (int)(id.end - id.at), is(asset, "noid") ? "0" : id.at, status);
    if (!status && !is(asset, "nockc")) {
        EVP_EncodeBlock(base64, ckc, ckc_count);
        BIO_printf(out, ",\"ckc\":\"%s\"", base64);
    }
    BIO_printf(out, ",\"asset-id\":\"%s\"}", asset);
    return 2;
}

int32_t fpsProcessOperations(const char *in, size_t in_count, char **out, size_t *out_count) {
    text all = {in, in + in_count}, request, items, one;
    *out = NULL;
    *out_count = 0;
    if (!member(all, "fairplay-streaming-request", &request) || !member(request, "create-ckc", &items)) return PARSER;
    BIO *response = BIO_new(BIO_s_mem());
    BIO_puts(response, "{\"fairplay-streaming-response\":{\"create-ckc\":[");
    int is_garbage = 0, written = 0;
    for (int index = 0; element(items, index, &one); index++) {
        BIO *buffer = BIO_new(BIO_s_mem());
        int result = item(one, buffer);
        char *bytes;
        long count = BIO_get_mem_data(buffer, &bytes);
        if (result == 0) is_garbage = 1;
        if (result == 2) { if (written++) BIO_puts(response, ","); BIO_write(response, bytes, (int)count); }
        BIO_free(buffer);
    }
    BIO_puts(response, is_garbage ? "]}" : "]}}");
    char *bytes;
    *out_count = (size_t)BIO_get_mem_data(response, &bytes);
    *out = malloc(*out_count);
    memcpy(*out, bytes, *out_count);
    BIO_free(response);
    return 0;
}

#ifndef NO_DISPOSE
void fpsDisposeResponse(char *out, size_t count) { (void)count; free(out); }
#endif
int32_t fpsGetVersion(const char **version) { *version = strdup("stand-in 1"); return 0; }
void fpsDisposeVersion(const char *version) { free((void *)version); }

#ifdef CRASHES_AT_LOAD
__attribute__((constructor)) static void crash(void) { abort(); }
#endif
