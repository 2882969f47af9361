/* SPDX-License-Identifier: MIT */
/*
 * rights.c - gives root's rights away in the middle of the runtime's beginning to listen: "rights child|again STEP
 * HOW".
 *
 * child: in a forked child, whose helper listens after a moment. again: the descriptors are closed, so that the helper
 * listens again when a client comes. Before the helper's system call number STEP (of those that are defined here, which
 * take the C library's place) the main thread drops the rights, as HOW says: user or groups. The subject's process id
 * is the output's first line.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "daemon.h"

#define NOBODY 65534

static int step;
static bool counting, wanted, dropped;

static void before_call(void)
{
	static int calls;

	if (!__atomic_load_n(&counting, __ATOMIC_ACQUIRE) || gettid() == getpid() || calls++ != step)
		return;
	__atomic_store_n(&wanted, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&dropped, __ATOMIC_ACQUIRE))
		usleep(100);
}

/* The function of the C library, which is called after before_call(). */
#define NEXT(result, name, parameters, ...)                                                                            \
	result name parameters                                                                                         \
	{                                                                                                              \
		static result(*function) parameters;                                                                   \
		if (!function)                                                                                         \
			*(void **)&function = dlsym(RTLD_NEXT, #name);                                                 \
		before_call();                                                                                         \
		return function(__VA_ARGS__);                                                                          \
	}

NEXT(int, access, (const char *path, int mode), path, mode)
NEXT(int, fstat, (int fd, struct stat *st), fd, st)
NEXT(int, socket, (int domain, int type, int protocol), domain, type, protocol)
NEXT(int, bind, (int fd, __CONST_SOCKADDR_ARG address, socklen_t size), fd, address, size)
NEXT(int, fchmodat, (int directory, const char *path, mode_t mode, int flags), directory, path, mode, flags)
NEXT(int, listen, (int fd, int backlog), fd, backlog)
NEXT(int, renameat, (int from_directory, const char *from, int directory, const char *to), from_directory, from,
     directory, to)
NEXT(int, unlinkat, (int directory, const char *path, int flags), directory, path, flags)
NEXT(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *size), fd, level, name, value, size)

int open(const char *path, int flags, ...)
{
	int (*function)(const char *, int, ...);
	va_list ap;

	va_start(ap, flags);
	const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	*(void **)&function = dlsym(RTLD_NEXT, "open");
	before_call();
	return function(path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
	int (*function)(int, int, ...);
	va_list ap;

	va_start(ap, command);
	const long argument = va_arg(ap, long);
	va_end(ap);
	*(void **)&function = dlsym(RTLD_NEXT, "fcntl");
	before_call();
	return function(fd, command, argument);
}

static void drop(const char *how)
{
	if (strcmp(how, "groups") == 0 && (setgid(NOBODY) != 0 || initgroups("nobody", NOBODY) != 0))
		exit(3);
	if (setuid(NOBODY) != 0)
		exit(4);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	step = atoi(argv[2]);
	if (strcmp(argv[1], "child") == 0 && fork() != 0) {
		for (;;)
			pause();
	}
	__atomic_store_n(&counting, true, __ATOMIC_RELEASE);
	if (strcmp(argv[1], "again") == 0)
		closefrom(3);
	printf("%d\n", getpid());
	fflush(stdout);
	while (!__atomic_load_n(&wanted, __ATOMIC_ACQUIRE))
		usleep(100);
	drop(argv[3]);
	__atomic_store_n(&dropped, true, __ATOMIC_RELEASE);
	trace_daemon_work(1);
	for (;;)
		pause();
}
