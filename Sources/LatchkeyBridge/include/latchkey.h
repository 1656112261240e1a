// AVPlayer's FairPlay keys for hosts that bind C: Unity, .NET, Kotlin/Native. Link the product LatchkeyBridge of the package.
//
// Rules for all functions:
// - Strings are UTF-8 and zero-terminated. A string passed in either direction is valid during the call only; copy it to keep it.
// - JSON objects are flat; their values are strings unless stated otherwise. Ignore unknown members.
// - Threads. Call from any thread, including a callback. The callbacks of one `latchkey_keys` run one at a time, on a thread of
//   Latchkey's that is not the main thread; do not block it.
// - A call with NULL as `keys` or `asset` has no effect.
#ifndef LATCHKEY_H
#define LATCHKEY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The keys of one vendor configuration. The caller owns them from `latchkey_keys_create` to `latchkey_keys_free`.
typedef void *latchkey_keys;

/// Requests the credentials of one license request. Called again for every attempt, because most tokens are valid for seconds.
///
/// Answer `number` with `latchkey_answer` or `latchkey_refuse`: now or later, from any thread. Only the first answer counts.
///
/// request: `reason` (`certificate`, `session`, `first`, `offline`, `renewal`, `retry`, `rejected`), `stage`, and if known
/// `purpose`, `key` (its URI) and `title`.
typedef void (*latchkey_on_credentials)(void *user_data, uint64_t number, const char *request);

/// Reports an outcome.
///
/// outcome: `kind` (`failure`, `notice`, `event`), `code`, and if known `title`, `key`, `detail`. A failure also has `domain`,
/// `number` (a number), `message`, `remedy`, `mayRetry` (a Boolean), and for the viewer `viewerKey` and `viewerText`.
typedef void (*latchkey_on_outcome)(void *user_data, const char *outcome);

/// Called when no callback follows, so that the host can release `user_data`.
typedef void (*latchkey_on_end)(void *user_data);

/// Creates the keys of a vendor.
///
/// configuration: `profile` (the vendor's profile, such as `vudrm`), `settings` (an object: the profile's settings by name, such as
/// `certificateURL`), `allowedHosts` (a list of additional hosts for license requests).
/// on_credentials: NULL if the vendor needs none. on_outcome, on_end: may be NULL.
/// on_end is called exactly once, as the last callback: after `latchkey_keys_free`, or if this function returns NULL.
/// error: NULL, or receives the reason if this function returns NULL: an outcome of the kind `failure`. Free it with
/// `latchkey_text_free`.
///
/// Returns NULL if the profile does not exist, a setting is missing, or the JSON cannot be read.
latchkey_keys latchkey_keys_create(
    const char *configuration, void *user_data, latchkey_on_credentials on_credentials, latchkey_on_outcome on_outcome,
    latchkey_on_end on_end, char **error);

/// Closes the keys and frees them: open requests are answered with an error. Call it once; `keys` is invalid afterwards.
/// Callbacks may still arrive until `on_end`.
void latchkey_keys_free(latchkey_keys keys);

/// Provides an asset with its keys. Call it before the asset loads anything: before its player item is made.
///
/// asset: an `AVURLAsset *`; the caller keeps it alive. title: the app's name for it, or NULL.
void latchkey_keys_protect(latchkey_keys keys, void *asset, const char *title);

/// Releases the keys of an asset that no longer plays.
void latchkey_keys_release(latchkey_keys keys, void *asset);

/// Releases all keys. Assets protected later still get keys.
void latchkey_keys_release_all(latchkey_keys keys);

/// Requests a key before an asset does. title: may be NULL.
///
/// Returns 1, or 0 if the key is present or was requested, and in the simulator.
int32_t latchkey_keys_preload(latchkey_keys keys, const char *key_uri, const char *title);

/// Pauses renewals until `latchkey_keys_resume`, for an app in the background that does not play.
void latchkey_keys_suspend(latchkey_keys keys);

/// Resumes renewals; overdue ones run immediately.
void latchkey_keys_resume(latchkey_keys keys);

/// Requests the keys whose leases ended, after the network or the app is back. Returns their number.
int32_t latchkey_keys_renew_ended(latchkey_keys keys);

/// Starts over after the media services were reset, or after the notice `stuck`. Make new assets and items, and protect them.
void latchkey_keys_replace_session(latchkey_keys keys);

/// Also reports outcomes of the kind `event`, from the first one since the keys were created; for logs. A second call changes nothing.
void latchkey_keys_report_events(latchkey_keys keys);

/// Answers a request for credentials.
///
/// number: the request's. credentials: an object of the credentials by name, usually one string under `token`. Invalid JSON is an
/// error for the request.
/// Returns 1 if this is the answer; 0 if the request was already answered or has ended. Safe even after `latchkey_keys_free`.
int32_t latchkey_answer(uint64_t number, const char *credentials);

/// Answers a request for credentials with an error: the key fails with `credentialsFailed`. Returns as `latchkey_answer` does.
///
/// reason: for the log, without secrets; may be NULL.
int32_t latchkey_refuse(uint64_t number, const char *reason);

/// Frees a string that `latchkey_keys_create` returned. NULL has no effect.
void latchkey_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
