/* SPDX-License-Identifier: MIT */
/*
 * daemon.c - does what daemons do, in the order in which it is told:
 *
 *	work=N          hits the tracepoint N times
 *	threads=N       four threads at once do that, each
 *	daemon          goes into the background by daemon(), which puts /dev/null on 0, 1 and 2
 *	fork            goes on in a child, and the parent ends by _exit()
 *	fork=exit       the same, but by exit()
 *	double          goes on in a child's child, in a session of its own; the others exit
 *	children=N      forks so many, each of which goes on, and waits for them; then it exits
 *	kill            kills itself
 *	exec=FILE       becomes that program, which works once
 *	chdir=DIRECTORY goes there
 *	rmdir=DIRECTORY removes it
 *	close           closes 0, 1 and 2
 *	closeall        closes all descriptors
 *	useup           opens descriptors until there are no more
 *	greedy          has a thread that takes each that is free
 *	content         ends it, gives back what it took, and waits until files are tried for again
 *	slow            the making and the closing of a file take their time from here on
 *	open=FILE       opens a file, and keeps it open
 *	write=TEXT      writes the text to descriptor 2
 *	user=UID        becomes somebody else
 *	plugin=FILE     loads a shared object
 *	pid=FILE        writes its process id there
 *	wait=FILE       waits until there is such a file
 *	term            waits for SIGTERM, and goes on
 */
#define CREATE_TRACE_POINTS
#include "daemon.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int worked;

static void work(int times)
{
	for (; times > 0; times--)
		trace_daemon_work(__atomic_add_fetch(&worked, 1, __ATOMIC_RELAXED));
}

static void *work_in_thread(void *times)
{
	work(*(int *)times);
	return NULL;
}

static void work_in_threads(int times)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) {
		if (pthread_create(&threads[i], NULL, work_in_thread, &times) != 0)
			_exit(12);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static bool is_greedy;
static pthread_t greedy;

static void *take_descriptors(void *unused)
{
	static int taken[4096];
	int nr = 0;

	while (__atomic_load_n(&is_greedy, __ATOMIC_RELAXED)) {
		int fd = dup(0);
		if (fd >= 0 && nr < 4096)
			taken[nr++] = fd;
	}
	while (nr > 0)
		close(taken[--nr]);
	return unused;
}

static bool is_slow;
static int (*allocate)(int fd, off_t from, off_t size);

/* These two are in the place of the C library's. A descriptor may be another thread's before its file is closed in full. */
int close(int fd)
{
	int result = (int)syscall(SYS_close, fd);

	if (__atomic_load_n(&is_slow, __ATOMIC_RELAXED))
		usleep(2000);
	return result;
}

static void find_allocate(void)
{
	*(void **)&allocate = dlsym(RTLD_NEXT, "posix_fallocate");
}

int posix_fallocate(int fd, off_t from, off_t size)
{
	if (!allocate) /* before main() */
		find_allocate();
	if (__atomic_load_n(&is_slow, __ATOMIC_RELAXED))
		usleep(20000);
	return allocate(fd, from, size);
}

static void put_pid(const char *path)
{
	char part[4096];

	snprintf(part, sizeof(part), "%s.part", path);
	FILE *file = fopen(part, "w");
	if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) != 0 || rename(part, path) != 0)
		_exit(3);
}

static void wait_for_sigterm(void)
{
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (sigwait(&set, &sig) != 0)
		_exit(9);
}

static void step(const char *what, const char *value)
{
	if (strcmp(what, "work") == 0) {
		work(atoi(value));
	} else if (strcmp(what, "threads") == 0) {
		work_in_threads(atoi(value));
	} else if (strcmp(what, "useup") == 0) {
		while (dup(0) >= 0)
			;
	} else if (strcmp(what, "greedy") == 0) {
		is_greedy = true;
		if (pthread_create(&greedy, NULL, take_descriptors, NULL) != 0)
			_exit(12);
	} else if (strcmp(what, "content") == 0) {
		__atomic_store_n(&is_greedy, false, __ATOMIC_RELAXED);
		pthread_join(greedy, NULL);
		usleep(200000);
	} else if (strcmp(what, "slow") == 0) {
		__atomic_store_n(&is_slow, true, __ATOMIC_RELAXED);
	} else if (strcmp(what, "daemon") == 0) {
		if (daemon(1, 0) != 0)
			_exit(4);
	} else if (strcmp(what, "fork") == 0) {
		pid_t child = fork();
		if (child != 0 && value)
			exit(0);
		if (child != 0)
			_exit(0);
	} else if (strcmp(what, "double") == 0) {
		if (fork() != 0)
			_exit(0);
		setsid();
		if (fork() != 0)
			_exit(0);
	} else if (strcmp(what, "children") == 0) {
		int nr = atoi(value);
		while (nr > 0 && fork() != 0)
			nr--;
		if (nr == 0) {
			while (wait(NULL) > 0)
				;
			exit(0);
		}
	} else if (strcmp(what, "kill") == 0) {
		raise(SIGKILL);
	} else if (strcmp(what, "exec") == 0) {
		execl(value, value, "work=1", (char *)NULL);
		_exit(11);
	} else if (strcmp(what, "chdir") == 0) {
		if (chdir(value) != 0)
			_exit(9);
	} else if (strcmp(what, "rmdir") == 0) {
		if (rmdir(value) != 0)
			_exit(10);
	} else if (strcmp(what, "close") == 0) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
	} else if (strcmp(what, "closeall") == 0) {
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
	} else if (strcmp(what, "open") == 0) {
		if (open(value, O_RDWR | O_CREAT | O_APPEND, 0666) < 0)
			_exit(5);
	} else if (strcmp(what, "write") == 0) {
		if (write(2, value, strlen(value)) < 0)
			_exit(6);
	} else if (strcmp(what, "user") == 0) {
		if (setgid((gid_t)atoi(value)) != 0 || setuid((uid_t)atoi(value)) != 0)
			_exit(7);
	} else if (strcmp(what, "plugin") == 0) {
		if (!dlopen(value, RTLD_NOW))
			_exit(8);
	} else if (strcmp(what, "pid") == 0) {
		put_pid(value);
	} else if (strcmp(what, "wait") == 0) {
		while (access(value, F_OK) != 0)
			usleep(1000);
	} else if (strcmp(what, "term") == 0) {
		wait_for_sigterm();
	} else {
		_exit(2);
	}
}

int main(int argc, char **argv)
{
	find_allocate();
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "term") == 0) { /* from the start on */
			sigset_t set;
			sigemptyset(&set);
			sigaddset(&set, SIGTERM);
			sigprocmask(SIG_BLOCK, &set, NULL);
		}
	}
	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (value)
			*value++ = '\0';
		step(argv[i], value);
	}
	return 0;
}
