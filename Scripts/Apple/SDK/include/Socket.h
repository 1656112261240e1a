// Own text: sockets, as far as the rooms use them. Source: POSIX.1, with BSD's length byte; a type check does not depend on the numbers;
// first written 22 November 2026.
#pragma once
typedef unsigned char sa_family_t;
typedef unsigned int socklen_t;
typedef unsigned short in_port_t;
typedef unsigned int in_addr_t;
struct in_addr { in_addr_t s_addr; };
struct sockaddr { unsigned char sa_len; sa_family_t sa_family; char sa_data[14]; };
struct sockaddr_in { unsigned char sin_len; sa_family_t sin_family; in_port_t sin_port; struct in_addr sin_addr; char sin_zero[8]; };
#define AF_INET 2
#define SOCK_STREAM 1
#define SHUT_RDWR 2
#define SOL_SOCKET 0xffff
#define SO_REUSEADDR 4
#define SO_NOSIGPIPE 0x1022
#define INADDR_LOOPBACK 0x7f000001
int socket(int domain, int type, int protocol);
int bind(int socket, const struct sockaddr *address, socklen_t length);
int listen(int socket, int backlog);
int accept(int socket, struct sockaddr *address, socklen_t *length);
int getsockname(int socket, struct sockaddr *address, socklen_t *length);
int setsockopt(int socket, int level, int option, const void *value, socklen_t length);
int shutdown(int socket, int how);
ssize_t recv(int socket, void *buffer, size_t length, int flags);
ssize_t send(int socket, const void *buffer, size_t length, int flags);
