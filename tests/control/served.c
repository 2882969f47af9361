/* SPDX-License-Identifier: MIT */
/*
 * A program that is looked into. Its arguments are steps, one after the other:
 *
 *	hit=N        N requests
 *	loop         requests, some hundred a second, until a signal ends it
 *	loop=MS      one after MS milliseconds
 *	storm        requests, as many as it can, until a signal ends it
 *	wait=FILE    until FILE exists
 *	touch=FILE   FILE exists from now on
 *	fork=N       the next steps are those of N children, which are waited for
 *	workers=N    the next steps are those of N children; whenever SIGHUP comes, of N new ones, which take the others' place
 *	leave        the next steps are those of a child, which is not waited for
 *	exec=PROGRAM with the steps that follow
 *	crash        by SIGSEGV
 *	exit=N
 *	setuid=N
 *	chroot=DIRECTORY
 *	filter       all its threads are ended if they accept a connection
 */
#define CREATE_TRACE_POINTS
#include "served.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int requests;

static void pause_for(long ns)
{
	const struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	nanosleep(&time, NULL);
}

static void hit(int n)
{
	for (int i = 0; i < n; i++) {
		requests = requests == INT_MAX ? 1 : requests + 1; /* a storm that nobody traces gets there in seconds */
		trace_served_request(requests, "10.0.0.1");
	}
}

static void loop(long ns)
{
	for (;;) {
		hit(1);
		trace_served_idle(requests);
		if (ns)
			pause_for(ns);
	}
}

/* In the parent, until the children have ended. */
static void fork_children(int n)
{
	for (int i = 0; i < n; i++) {
		if (fork() == 0)
			return;
	}
	while (wait(NULL) > 0)
		continue;
	exit(0);
}

static volatile sig_atomic_t reloads;

static void note_reload(int sig)
{
	(void)sig;
	reloads++;
}

static void keep_workers(int n)
{
	pid_t *workers = calloc((size_t)n, sizeof(*workers));

	signal(SIGHUP, note_reload);
	for (int begun = 0;; pause_for(1000000)) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
		if (begun > reloads)
			continue;
		begun++;
		for (int i = 0; i < n; i++) {
			const pid_t new = fork();
			if (new == 0) {
				signal(SIGHUP, SIG_DFL);
				prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
				return;
			}
			if (workers[i])
				kill(workers[i], SIGTERM);
			workers[i] = new;
		}
	}
}

static void crash(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static const char *value_of(const char *step, const char *name)
{
	const size_t len = strlen(name);

	return strncmp(step, name, len) == 0 && step[len] == '=' ? step + len + 1 : NULL;
}

static void filter(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_accept4, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		exit(3);
}

static void run(char **steps)
{
	const char *value, *step = steps[0];

	if ((value = value_of(step, "hit"))) {
		hit(atoi(value));
	} else if (strcmp(step, "loop") == 0) {
		loop(3000000);
	} else if ((value = value_of(step, "loop"))) {
		loop(atol(value) * 1000000);
	} else if (strcmp(step, "storm") == 0) {
		loop(0);
	} else if ((value = value_of(step, "wait"))) {
		while (access(value, F_OK) != 0)
			pause_for(1000000);
	} else if ((value = value_of(step, "touch"))) {
		close(open(value, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	} else if ((value = value_of(step, "fork"))) {
		fork_children(atoi(value));
	} else if ((value = value_of(step, "workers"))) {
		keep_workers(atoi(value));
	} else if (strcmp(step, "leave") == 0) {
		if (fork() != 0)
			exit(0);
	} else if ((value = value_of(step, "exec"))) {
		steps[0] = (char *)value;
		execv(value, steps);
	} else if (strcmp(step, "crash") == 0) {
		crash();
	} else if ((value = value_of(step, "exit"))) {
		exit(atoi(value));
	} else if ((value = value_of(step, "setuid"))) {
		if (setuid((uid_t)atoi(value)) != 0)
			exit(3);
	} else if ((value = value_of(step, "chroot"))) {
		if (chroot(value) != 0 || chdir("/") != 0)
			exit(3);
	} else if (strcmp(step, "filter") == 0) {
		filter();
	} else {
		exit(2);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	for (int i = 1; argv[i]; i++)
		run(argv + i);
	return 0;
}
