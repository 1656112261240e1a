#pragma once
// Typed inline functions for what Swift cannot call: libmicrohttpd's variadic functions and its unions.
#include <microhttpd.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/eventfd.h>
#endif

struct latchkey_mhd_settings {
    unsigned int flags;
    const struct sockaddr *address;
    size_t connection_memory;
    unsigned int connection_limit;
    unsigned int idle_seconds;
    unsigned int thread_count;
    const void *certificate_chooser; // a gnutls_certificate_retrieve_function2; NULL without TLS
};

struct latchkey_mhd_callbacks {
    void *context;
    MHD_AcceptPolicyCallback accept;
    MHD_NotifyConnectionCallback connection;
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
    void *(*uri)(void *context, const char *uri, struct MHD_Connection *connection);
    MHD_LogCallback log;
};

// Starts a daemon; NULL when it cannot, with errno where the system gave a reason.
static inline struct MHD_Daemon *latchkey_mhd_start(struct latchkey_mhd_settings settings,
                                                    struct latchkey_mhd_callbacks callbacks) {
    struct MHD_OptionItem options[] = {
        // The logger goes first, so that it hears about the others.
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)callbacks.log, callbacks.context},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)callbacks.completed, callbacks.context},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)callbacks.connection, callbacks.context},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)callbacks.uri, callbacks.context},
        {MHD_OPTION_SOCK_ADDR, 0, (void *)settings.address},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)settings.connection_memory, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, settings.connection_limit, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, settings.idle_seconds, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {settings.thread_count > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, settings.thread_count, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    errno = 0;
    if (settings.certificate_chooser == NULL)
        return MHD_start_daemon(settings.flags, 0, callbacks.accept, callbacks.context, callbacks.access, callbacks.context,
                                MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    return MHD_start_daemon(settings.flags | MHD_USE_TLS, 0, callbacks.accept, callbacks.context, callbacks.access, callbacks.context,
                            MHD_OPTION_ARRAY, options, MHD_OPTION_HTTPS_CERT_CALLBACK, settings.certificate_chooser,
                            MHD_OPTION_END);
}

// Whether a daemon can do without threads: its owner's wait for its epoll descriptor.
static inline bool latchkey_mhd_does_without_threads(void) {
#if defined(__linux__)
    return true;
#else
    return false;
#endif
}

// The flags of a daemon that polls with the best means of the system, on threads of its own or on its owner's, and can suspend
// connections.
static inline unsigned int latchkey_mhd_flags(bool ipv6, bool own_threads) {
#if defined(__linux__)
    unsigned int polling = own_threads ? MHD_USE_EPOLL_INTERNAL_THREAD : MHD_USE_EPOLL;
#else
    (void)own_threads;
    unsigned int polling = MHD_USE_POLL_INTERNAL_THREAD;
#endif
    return polling | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | (ipv6 ? MHD_USE_IPv6 : 0);
}

// Does what the sockets of a daemon without threads are ready for. Does not wait.
static inline void latchkey_mhd_run(struct MHD_Daemon *daemon) {
    MHD_UNSIGNED_LONG_LONG milliseconds;
    // A reply that was sent and the request behind it are two rounds.
    for (int round = 0; round < 3; round++) {
        MHD_run_wait(daemon, 0);
        if (MHD_get_timeout(daemon, &milliseconds) != MHD_YES || milliseconds > 0) break;
    }
}

// How long a daemon without threads may sleep unless a socket is ready, in milliseconds; negative for as long as it likes.
static inline int latchkey_mhd_patience(struct MHD_Daemon *daemon) {
    MHD_UNSIGNED_LONG_LONG milliseconds;
    if (MHD_get_timeout(daemon, &milliseconds) != MHD_YES) return -1;
    return milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds;
}

// What becomes readable when a daemon without threads has something to do; -1 when it is unknown.
static inline int latchkey_mhd_readiness(struct MHD_Daemon *daemon) {
#if defined(__linux__)
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : (int)info->epoll_fd;
#else
    (void)daemon;
    return -1;
#endif
}

// An event counter; -1 when there is none, with errno.
static inline int latchkey_event(void) {
#if defined(__linux__)
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
#else
    return -1;
#endif
}

// Makes an event counter readable.
static inline void latchkey_event_add(int event) {
    const uint64_t one = 1;
    // A counter that is full is readable already.
    ssize_t count = write(event, &one, sizeof one);
    (void)count;
}

// Waits until an event counter or another descriptor (-1 for none) is readable, and resets the counter.
static inline void latchkey_event_wait(int event, int other, int milliseconds) {
    struct pollfd both[] = {{event, POLLIN, 0}, {other, POLLIN, 0}};
    if (poll(both, 2, milliseconds) > 0 && both[0].revents != 0) {
        uint64_t value;
        ssize_t count = read(event, &value, sizeof value);
        (void)count;
    }
}

// The port that a daemon listens on; 0 when it is unknown.
static inline unsigned short latchkey_mhd_port(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info == NULL ? 0 : info->port;
}

// The number of bytes of a request's line and header fields.
static inline size_t latchkey_mhd_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

// The client's address, or NULL; it belongs to the connection.
static inline const struct sockaddr *latchkey_mhd_client(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

// How many files the process may have open.
static inline unsigned long long latchkey_open_file_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

// The socket of a connection; -1 when it is unknown.
static inline int latchkey_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : (int)info->connect_fd;
}

// Sends what the socket takes at once, without a signal where the other end is gone.
static inline long latchkey_send_now(int socket, const void *bytes, size_t count) {
#if defined(__linux__)
    return send(socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
#else
    return send(socket, bytes, count, MSG_DONTWAIT);
#endif
}

// Whether the other end has sent what nobody has read; false where it has ended the connection.
static inline bool latchkey_has_unread(int socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

// Whether the other end has ended the connection, or its half of it; leaves what is unread alone.
static inline bool latchkey_is_hung_up(int socket) {
#if defined(__linux__)
    struct pollfd one = {socket, 0x2000 /* POLLRDHUP */, 0};
#else
    struct pollfd one = {socket, 0, 0};
#endif
    return poll(&one, 1, 0) > 0 && one.revents != 0;
}

// What a body's reader returns at the end, and for an error.
static inline ssize_t latchkey_mhd_body_end(void) { return MHD_CONTENT_READER_END_OF_STREAM; }
static inline ssize_t latchkey_mhd_body_error(void) { return MHD_CONTENT_READER_END_WITH_ERROR; }

// A reply whose length nobody knows; it is sent in chunks.
static inline struct MHD_Response *latchkey_mhd_stream(size_t block, MHD_ContentReaderCallback reader, void *context,
                                                       MHD_ContentReaderFreeCallback drop) {
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, reader, context, drop);
}

// What the connection callback keeps about a connection.
static inline void *latchkey_mhd_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

// Leaves libmicrohttpd no query to take apart. It would keep a record of each item in the memory of the connection, and where
// that runs out (2,000 items do) would neither answer nor say that the request is over. The text is libmicrohttpd's own read
// buffer, which it cuts at the same places itself.
static inline void latchkey_mhd_forget_query(const char *target) {
    char *query = strchr(target, '?');
    if (query != NULL) query[1] = '\0';
}

// Makes the connection end with a TCP reset instead of an orderly end. The owner still closes the socket.
static inline void latchkey_mhd_reset(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == NULL) return;
#if defined(__linux__)
    struct sockaddr nobody;
    memset(&nobody, 0, sizeof nobody);
    nobody.sa_family = AF_UNSPEC;
    connect(info->connect_fd, &nobody, sizeof nobody);
#else
    struct linger none = {1, 0};
    setsockopt(info->connect_fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
#endif
}
