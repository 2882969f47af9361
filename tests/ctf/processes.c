/* SPDX-License-Identifier: MIT */
/*
 * processes.c - children, and the many ways in which a process ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"
#include "recorder.h"

/* ---- Children ---- */

static void must_be_well(int status, const char *what)
{
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "recorder: %s: a child ended with status 0x%x\n", what, (unsigned int)status);
		_exit(98);
	}
}

static pid_t fork_or_die(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (child == 0)
		forget_threads();
	return child;
}

/* Children do what follows up to "parent", and end; the parent goes on behind that. */
void fork_children(const char *nr)
{
	for (unsigned long n = number(nr); n; n--) {
		if (fork_or_die() == 0) {
			for (char **at = rest; *at; at++) {
				if (strcmp(*at, "parent") == 0)
					*at = strdup("crash=_exit");
			}
			return;
		}
	}
	while (*rest && strcmp(*rest++, "parent") != 0)
		;
}

void reap_children(const char *unused)
{
	int status;

	(void)unused;
	while (wait(&status) > 0)
		must_be_well(status, "reap");
}

/* True in the child, which has recorded; the parent waits for it. */
bool child_records(unsigned long events)
{
	pid_t child = fork_or_die();
	int status;

	if (child) {
		if (waitpid(child, &status, 0) == child)
			must_be_well(status, "child_records");
		return false;
	}
	unsigned int who = take_whos(1);
	while (events--)
		hit(who);
	return true;
}

void vfork_often(const char *nr)
{
	for (unsigned long n = number(nr); n; n--) {
		int status;
		pid_t child = vfork();

		if (child == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			die("vfork");
		must_be_well(status, "vfork");
	}
}

/* The daemon does what follows; this process waits for its end. */
void become_daemon(const char *unused)
{
	int status;

	(void)unused;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		die("prctl");
	if (fork_or_die()) {
		while (wait(&status) > 0)
			must_be_well(status, "daemon");
		_exit(0);
	}
	setsid();
	if (fork_or_die())
		_exit(0);
	syscall(SYS_close_range, 0, ~0u, 0);
	open("/dev/null", O_RDWR);
	dup(0);
	dup(0);
	if (chdir("/") != 0)
		die("chdir");
}

/* This program, from its start, with the commands that follow. */
void exec_again(const char *unused)
{
	char **argv = rest - 2;
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)unused;
	if (length < 0)
		die("readlink");
	argv[0] = path;
	argv[1] = (char *)shared_path;
	execv(path, argv);
	die("execv");
}

/* ---- Ends ---- */

static const char *handler_does;
static unsigned int who_of_handler;

static void on_crash(int number_of_signal)
{
	hit(who_of_handler);
	if (strcmp(handler_does, "exit") == 0)
		_exit(3);
	signal(number_of_signal, SIG_DFL);
	if (strcmp(handler_does, "raise") == 0)
		raise(number_of_signal); /* it is blocked: on return */
}

/* Crashes are recorded, and then: return, exit, or raise. */
void catch_crashes(const char *how)
{
	handler_does = how;
	who_of_handler = take_whos(1);
	signal(SIGSEGV, on_crash);
	signal(SIGABRT, on_crash);
}

static bool is_inside;

/* Called while record_inside is on its way. */
long record_inside(long what)
{
	__atomic_store_n(&is_inside, true, __ATOMIC_RELEASE);
	if (what < 0)
		sleep((unsigned int)-what);
	else
		*(volatile long *)what = 1;
	return what;
}

static void *inside_for_long(void *unused)
{
	trace_record_inside(-3600);
	return unused;
}

/* Another thread does, for an hour. */
void stick_in_a_probe(const char *unused)
{
	pthread_t id;

	(void)unused;
	if (pthread_create(&id, NULL, inside_for_long, NULL) != 0)
		die("pthread_create");
	while (!__atomic_load_n(&is_inside, __ATOMIC_ACQUIRE))
		usleep(1000);
}

void crash(const char *how)
{
	static volatile int *volatile nowhere = (int *)8; /* the undefined behaviour sanitizer knows NULL */

	if (strcmp(how, "segv") == 0)
		*nowhere = 1;
	else if (strcmp(how, "inside") == 0)
		trace_record_inside(8);
	else if (strcmp(how, "abort") == 0)
		abort();
	else if (strcmp(how, "_exit") == 0)
		_exit(0);
	else if (strcmp(how, "quick_exit") == 0)
		quick_exit(0);
	else if (strcmp(how, "exit") == 0)
		exit(0);
	else if (strcmp(how, "pthread_exit") == 0)
		pthread_exit(NULL);
	else if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	else
		die(how);
}
