// libcurl as Swift can call it: the headers, and a typed function for each variadic that this package uses.
#pragma once

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <sys/socket.h>

static inline CURLcode latchkey_curl_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode latchkey_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

/// Sets an option that is a text; libcurl copies it.
static inline CURLcode latchkey_curl_set_text(CURL *easy, CURLoption option, const char *text) {
    return curl_easy_setopt(easy, option, text);
}

/// Sets an option that is a list; it stays the caller's, and must live as long as the handle.
static inline CURLcode latchkey_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *list) {
    return curl_easy_setopt(easy, option, list);
}

/// Where libcurl writes why a transfer failed: CURL_ERROR_SIZE bytes that must live as long as the handle.
static inline CURLcode latchkey_curl_set_error_text(CURL *easy, char *buffer) {
    return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, buffer);
}

typedef size_t (*latchkey_curl_data)(char *bytes, size_t size, size_t count, void *context);

/// Sets who gets the head line by line and the body, and who gives the request's body; all are called with the context.
static inline CURLcode latchkey_curl_set_callbacks(
    CURL *easy, latchkey_curl_data head, latchkey_curl_data body, latchkey_curl_data upload, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_READFUNCTION, upload);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_READDATA, context);
    return code;
}

typedef curl_socket_t (*latchkey_curl_socket_opener)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*latchkey_curl_socket_closer)(void *context, curl_socket_t socket);

/// Sets who opens and closes sockets.
static inline CURLcode latchkey_curl_set_sockets(CURL *easy, latchkey_curl_socket_opener open, latchkey_curl_socket_closer close) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close) : code;
}

/// A socket that no child process gets.
static inline curl_socket_t latchkey_curl_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// Nothing but http and https.
static inline CURLcode latchkey_curl_allow_http_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/// A handle that goes away does not wait for the name service to answer.
static inline CURLcode latchkey_curl_quit_quickly(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)easy;
    return CURLE_OK;
#endif
}

/// A number about a transfer; 0 where it is unknown.
static inline long latchkey_curl_number(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

/// Microseconds until the request could be sent; 0 where no connection was made.
static inline curl_off_t latchkey_curl_connected_after(CURL *easy) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &value) == CURLE_OK ? value : 0;
}

static inline CURLMcode latchkey_curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
