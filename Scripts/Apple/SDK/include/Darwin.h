// Own text: the functions of the C library that the rooms call. Source: POSIX.1; a type check does not depend on the numbers;
// first written 22 November 2026.
#pragma once
typedef unsigned long size_t_; typedef long ssize_t; typedef int errno_t; typedef unsigned short mode_t; typedef long long off_t; typedef int pid_t; typedef unsigned int uid_t;
typedef unsigned long size_t;
errno_t memset_s(void *s, size_t smax, int c, size_t n);
int *__error(void);
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0x200
#define O_TRUNC 0x400
#define O_EXCL 0x800
#define O_NOFOLLOW 0x100
#define O_CLOEXEC 0x1000000
#define O_DIRECTORY 0x100000
#define W_OK 2
#define R_OK 4
#define F_OK 0
#define EINTR 4
#define ENOENT 2
#define EEXIST 17
#define EWOULDBLOCK 35
#define F_FULLFSYNC 51
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define LOCK_EX 2
#define LOCK_SH 1
#define LOCK_NB 4
#define LOCK_UN 8
int access(const char *path, int mode);
int close(int fd);
int fsync(int fd);
ssize_t read(int fd, void *buf, size_t n);
ssize_t write(int fd, const void *buf, size_t n);
int rename(const char *a, const char *b);
int unlink(const char *a);
int flock(int fd, int op);
char *strerror(int e);
int fchmod(int fd, mode_t m);
long time(long *t);
int ftruncate(int fd, off_t n);
off_t lseek(int fd, off_t o, int w);

int memcmp(const void *a, const void *b, size_t n);
void *memcpy(void *a, const void *b, size_t n);
void *memchr(const void *a, int c, size_t n);
size_t strlen(const char *s);
int sysctlbyname(const char *name, void *_Nullable old, size_t *_Nullable old_size, void *_Nullable new_value, size_t new_size);
double pow(double a, double b);
#include <Socket.h>
// Addresses as text, in LatchkeyForms.
#define AF_INET6 30
#define INET6_ADDRSTRLEN 46
struct in6_addr { unsigned char s6_addr[16]; };
int inet_pton(int family, const char *text, void *address);
const char *inet_ntop(int family, const void *address, char *text, unsigned int size);
