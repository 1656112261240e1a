#pragma once
// Typed inline functions for sockets and child processes: what differs between systems, and what Swift cannot call.
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/filter.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#else
#include <sys/event.h>
#endif

#if defined(__linux__)
// Of glibc 2.34, which shows it to programs that ask for all that GNU has.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
#endif

// Lets a child inherit its three standard files alone. Returns flags for the child's attributes.
static inline short latchkey_close_others(posix_spawn_file_actions_t *actions) {
#if defined(__linux__)
    posix_spawn_file_actions_addclosefrom_np(actions, 3);
    return 0;
#else
    for (int file = 0; file < 3; file++) posix_spawn_file_actions_addinherit_np(actions, file);
    return POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
}

// What a socket has become ready for.
struct latchkey_event {
    uint64_t number;
    bool readable, writable;
    // The other end has ended the connection, or its half of it.
    bool ended;
};

// A socket without delays in calls, which no child process gets.
static inline int latchkey_prepare(int socket) {
    if (socket < 0) return socket;
    int one = 1;
#if !defined(__linux__)
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
    setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
#endif
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return socket;
}

// Two connected sockets of this process, which no child process gets unless it is given one.
static inline bool latchkey_pair(int *ends) {
#if defined(__linux__)
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
    for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
    int one = 1;
    setsockopt(ends[0], SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
    return true;
#endif
}

// A socket that listens; -1 when there is none, with errno.
static inline int latchkey_listen(const struct sockaddr *address) {
    bool is_ipv6 = address->sa_family == AF_INET6;
#if defined(__linux__)
    int listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    int listener = latchkey_prepare(socket(address->sa_family, SOCK_STREAM, 0));
#endif
    if (listener < 0) return -1;
    int one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (is_ipv6) setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    socklen_t length = is_ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (bind(listener, address, length) == 0 && listen(listener, 1024) == 0) return listener;
    int number = errno;
    close(listener);
    errno = number;
    return -1;
}

// A socket that is being connected, or is already; -1 when there is none, with errno.
static inline int latchkey_connect(const struct sockaddr *address, socklen_t length) {
#if defined(__linux__)
    int connection = latchkey_prepare(socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
#else
    int connection = latchkey_prepare(socket(address->sa_family, SOCK_STREAM, 0));
#endif
    if (connection < 0 || connect(connection, address, length) == 0 || errno == EINPROGRESS) return connection;
    int number = errno;
    close(connection);
    errno = number;
    return -1;
}

// The port of a socket; 0 when it is unknown.
static inline unsigned short latchkey_port(int socket) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return 0;
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

// Has the system drop each request to connect to a listener from now on. A client repeats it after a second. Connections that have begun go on.
static inline void latchkey_drop_connects(int listener) {
#if defined(__linux__)
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),           // The flags of the TCP header (RFC 9293, section 3.1):
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),        // of SYN and ACK,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),  // SYN alone begins a connection.
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
#else
    (void)listener;
#endif
}

// The next connection of a listener; -1 when there is none, with errno.
static inline int latchkey_accept(int listener, struct sockaddr_storage *address) {
    socklen_t length = sizeof *address;
    memset(address, 0, sizeof *address);
#if defined(__linux__)
    return latchkey_prepare(accept4(listener, (struct sockaddr *)address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK));
#else
    return latchkey_prepare(accept(listener, (struct sockaddr *)address, &length));
#endif
}

// Whether a connection waits to be accepted.
static inline bool latchkey_has_waiting(int listener) {
    struct pollfd one = {listener, POLLIN, 0};
    return poll(&one, 1, 0) > 0 && (one.revents & POLLIN) != 0;
}

// A set of sockets whose readiness is told; -1 when there is none, with errno. It is itself readable when it has something to tell.
static inline int latchkey_readiness(void) {
#if defined(__linux__)
    return epoll_create1(EPOLL_CLOEXEC);
#else
    int set = kqueue();
    if (set >= 0) fcntl(set, F_SETFD, FD_CLOEXEC);
    return set;
#endif
}

// Adds a connection, of which each change is told once. It leaves the set when it is closed.
static inline bool latchkey_readiness_add(int set, int socket, uint64_t number) {
#if defined(__linux__)
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.u64 = number};
    return epoll_ctl(set, EPOLL_CTL_ADD, socket, &event) == 0;
#else
    struct kevent both[2];
    EV_SET(&both[0], socket, EVFILT_READ, EV_ADD | EV_CLEAR, 0, 0, (void *)(uintptr_t)number);
    EV_SET(&both[1], socket, EVFILT_WRITE, EV_ADD | EV_CLEAR, 0, 0, (void *)(uintptr_t)number);
    return kevent(set, both, 2, NULL, 0, NULL) == 0;
#endif
}

// Adds a listener as number 0, which is told as long as a connection waits, or takes it out.
static inline bool latchkey_readiness_listen(int set, int listener, bool listens) {
#if defined(__linux__)
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 0};
    return epoll_ctl(set, listens ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener, &event) == 0;
#else
    struct kevent one;
    EV_SET(&one, listener, EVFILT_READ, listens ? EV_ADD : EV_DELETE, 0, 0, NULL);
    return kevent(set, &one, 1, NULL, 0, NULL) == 0;
#endif
}

// What is to be told, at most so many. Does not wait.
static inline int latchkey_readiness_take(int set, struct latchkey_event *events, int most) {
    if (most > 64) most = 64;
#if defined(__linux__)
    struct epoll_event told[64];
    int count = epoll_wait(set, told, most, 0);
    for (int index = 0; index < count; index++) {
        uint32_t what = told[index].events;
        bool ended = (what & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0;
        events[index] = (struct latchkey_event){
            told[index].data.u64, ended || (what & EPOLLIN) != 0, ended || (what & EPOLLOUT) != 0, ended};
    }
#else
    struct kevent told[64];
    struct timespec none = {0, 0};
    int count = kevent(set, NULL, 0, told, most, &none);
    for (int index = 0; index < count; index++) {
        bool ended = (told[index].flags & EV_EOF) != 0;
        events[index] = (struct latchkey_event){(uint64_t)(uintptr_t)told[index].udata,
                                                ended || told[index].filter == EVFILT_READ,
                                                ended || told[index].filter == EVFILT_WRITE, ended};
    }
#endif
    return count < 0 ? 0 : count;
}

// What wakes a thread that sleeps; -1 when there is none, with errno.
static inline int latchkey_alarm(void) {
#if defined(__linux__)
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
#else
    int alarm = latchkey_readiness();
    struct kevent one;
    EV_SET(&one, 1, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0, NULL);
    if (alarm >= 0) kevent(alarm, &one, 1, NULL, 0, NULL);
    return alarm;
#endif
}

// Makes an alarm readable.
static inline void latchkey_alarm_ring(int alarm) {
#if defined(__linux__)
    const uint64_t one = 1;
    // A counter that is full is readable already.
    ssize_t count = write(alarm, &one, sizeof one);
    (void)count;
#else
    struct kevent one;
    EV_SET(&one, 1, EVFILT_USER, 0, NOTE_TRIGGER, 0, NULL);
    kevent(alarm, &one, 1, NULL, 0, NULL);
#endif
}

// Waits until an alarm or another descriptor (-1 for none) is readable, and resets the alarm.
static inline void latchkey_alarm_wait(int alarm, int other, int milliseconds) {
    struct pollfd both[] = {{alarm, POLLIN, 0}, {other, POLLIN, 0}};
    if (poll(both, 2, milliseconds) <= 0 || both[0].revents == 0) return;
#if defined(__linux__)
    uint64_t value;
    ssize_t count = read(alarm, &value, sizeof value);
    (void)count;
#else
    struct kevent told;
    struct timespec none = {0, 0};
    kevent(alarm, NULL, 0, &told, 1, &none);
#endif
}

// Reads what is there; -1 with errno, 0 at the end.
static inline long latchkey_receive(int socket, void *bytes, size_t most) { return recv(socket, bytes, most, MSG_DONTWAIT); }

// Sends what the socket takes at once, without a signal where the other end is gone.
static inline long latchkey_send(int socket, const void *bytes, size_t count) {
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

// Makes the connection end with a TCP reset instead of an orderly end. The owner still closes the socket.
static inline void latchkey_reset(int socket) {
#if defined(__linux__)
    struct sockaddr nobody;
    memset(&nobody, 0, sizeof nobody);
    nobody.sa_family = AF_UNSPEC;
    connect(socket, &nobody, sizeof nobody);
#else
    struct linger none = {1, 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
#endif
}

// The current date as a header field has it, in at least 30 bytes. Returns the second that it is of.
static inline time_t latchkey_date(char *text) {
    static const char *days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    const char *day = days[utc.tm_wday % 7], *month = months[utc.tm_mon % 12];
    int year = (utc.tm_year + 1900) % 10000;
    char made[] = {day[0], day[1], day[2], ',', ' ', '0' + utc.tm_mday / 10, '0' + utc.tm_mday % 10, ' ',
                   month[0], month[1], month[2], ' ', '0' + year / 1000, '0' + year / 100 % 10,
                   '0' + year / 10 % 10, '0' + year % 10, ' ', '0' + utc.tm_hour / 10, '0' + utc.tm_hour % 10, ':',
                   '0' + utc.tm_min / 10, '0' + utc.tm_min % 10, ':', '0' + utc.tm_sec / 10, '0' + utc.tm_sec % 10,
                   ' ', 'G', 'M', 'T', 0};
    memcpy(text, made, sizeof made);
    return now;
}
