// What a licensee's shared library exports, so that latchkey-server derives keys with it: `--derivation libname.so`.
//
// This header states an interface and nothing of any function behind it. `Documentation/Licensees.md` shows how to build and check a
// library.
//
// Rules for all functions:
// - Threads. After the self-test, any number of threads call at once. A library locks what it has to, and keeps nothing of a thread.
// - Ownership. Every pointer is the caller's and ends with the call. Nothing is allocated for the other side, nothing is freed for it.
// - Errors. A function returns LATCHKEY_OK, or another code and then has written nothing that counts. It never ends the process, never
//   throws an exception through the interface, and prints no secret.
// - Time. A call blocks a worker thread; it waits for no network.
// - Life. The library is loaded once and never unloaded. It does not survive fork, and is not asked to.
#ifndef LATCHKEY_DERIVATION_H
#define LATCHKEY_DERIVATION_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LATCHKEY_EXPORT __attribute__((visibility("default")))
#else
#define LATCHKEY_EXPORT
#endif

/// The version of this interface. A server refuses a library of another one and calls nothing else of it.
#define LATCHKEY_DERIVATION_VERSION 1

/// The lengths of what is passed, in bytes.
#define LATCHKEY_R2_SIZE 21
#define LATCHKEY_ASK_SIZE 16
#define LATCHKEY_DASK_SIZE 16
#define LATCHKEY_SHA1_SIZE 20

/// What the functions return. Every other number counts as LATCHKEY_FAILED and stands in the server's log.
#define LATCHKEY_OK 0
#define LATCHKEY_FAILED 1
/// An ASk is needed and there is none; or no credential has the SHA-1.
#define LATCHKEY_NO_SECRET 2
#define LATCHKEY_UNKNOWN_CERTIFICATE 3
/// The private key cannot be used now, such as a token that does not answer. The server tells its client to try again.
#define LATCHKEY_UNAVAILABLE 4

#ifdef __cplusplus
extern "C" {
#endif

/// Returns LATCHKEY_DERIVATION_VERSION of the header that the library was compiled with. Required; called first.
LATCHKEY_EXPORT uint32_t latchkey_derivation_version(void);

/// Checks the library against vectors that it brings along, and prepares it. Required unless the server's configuration names vectors.
/// Called on one thread, before any function but the version; again when the server reloads its configuration, while others derive.
LATCHKEY_EXPORT int32_t latchkey_derivation_self_test(void);

/// Derives the key of an SPC's session bytes. Required.
///
/// r2: 21 bytes of the SPC; they come from strangers. ask: 16 bytes, or NULL for a credential without an ASk. certificate_sha1: 20 bytes,
/// which tell a library with secrets of its own which credential it is. dask: where the 16 bytes go.
LATCHKEY_EXPORT int32_t latchkey_derivation_derive(
    const uint8_t r2[LATCHKEY_R2_SIZE], const uint8_t *ask, const uint8_t certificate_sha1[LATCHKEY_SHA1_SIZE],
    uint8_t dask[LATCHKEY_DASK_SIZE]);

/// Decrypts with the private key of a certificate, RSA-OAEP with SHA-1, in the server or its token. The server passes it to
/// latchkey_spc_open, which calls it on its own thread before it returns.
///
/// key: where the result goes. key_count: the room there, at least 16; then the count. Returns LATCHKEY_OK, LATCHKEY_FAILED,
/// LATCHKEY_UNKNOWN_CERTIFICATE or LATCHKEY_UNAVAILABLE.
typedef int32_t (*latchkey_unwrap)(
    void *context, const uint8_t *certificate_sha1, const uint8_t *wrapped, size_t wrapped_count, uint8_t *key,
    size_t *key_count);

/// The container versions that latchkey_spc_open reads: bit 2 for version 2, bit 3 for version 3. Optional, with latchkey_spc_open.
LATCHKEY_EXPORT uint32_t latchkey_spc_versions(void);

/// Opens an SPC of one of these versions. Optional.
///
/// spc: 8 bytes at least, from strangers. It calls unwrap with the context for the payload key, and the last certificate that unwrap
/// opened for is the SPC's. payload: where the decrypted blocks go; there is room for spc_count bytes. payload_count: their number.
LATCHKEY_EXPORT int32_t latchkey_spc_open(
    const uint8_t *spc, size_t spc_count, latchkey_unwrap unwrap, void *context, uint8_t *payload, size_t *payload_count);

#ifdef __cplusplus
}
#endif
#endif
