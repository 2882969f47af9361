/* SPDX-License-Identifier: MIT */
/*
 * web.c - does what web servers and caches do with processes and rights, and has a request a millisecond.
 *
 *	web          a master of root's and two workers of www-data's. On SIGHUP, new workers take the place of the old
 *	web -u USER  becomes USER, and goes into the background, as memcached -u -d does
 *
 * Both say who they are where their arguments were. docs/servers.md shows them with tp.
 */
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "web.h"

#define WORKERS 2

extern char **environ;

static char *title;
static size_t title_size;

/* The environment moves away, so that a title has its room, too. */
static void title_begin(int argc, char **argv)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;

	for (char **variable = environ; *variable; variable++) {
		if (*variable == end)
			end += strlen(end) + 1;
		*variable = strdup(*variable);
	}
	title = argv[0];
	title_size = (size_t)(end - title);
}

static void title_set(const char *text)
{
	memset(title, 0, title_size);
	snprintf(title, title_size, "web: %s", text);
}

static void become(const char *name)
{
	const struct passwd *user = getpwnam(name);

	if (user && initgroups(name, user->pw_gid) == 0 && setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0)
		return;
	perror(name);
	exit(1);
}

static void serve(void)
{
	for (int number = 1;; number++) {
		trace_web_request(number, number % 100 ? 200 : 404);
		usleep(1000);
	}
}

static void start_workers(pid_t *workers, const sigset_t *signals)
{
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (workers[i] == 0) {
			sigprocmask(SIG_UNBLOCK, signals, NULL);
			become("www-data");
			title_set("worker");
			serve();
		}
	}
}

static void end_workers(const pid_t *workers)
{
	for (int i = 0; i < WORKERS; i++) {
		kill(workers[i], SIGTERM);
		waitpid(workers[i], NULL, 0);
	}
}

static void master(void)
{
	pid_t workers[WORKERS], old[WORKERS];
	sigset_t signals;
	int sig;

	title_set("master");
	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	start_workers(workers, &signals);
	while (sigwait(&signals, &sig) == 0 && sig == SIGHUP) {
		memcpy(old, workers, sizeof(old));
		start_workers(workers, &signals);
		end_workers(old);
	}
	end_workers(workers);
}

int main(int argc, char **argv)
{
	title_begin(argc, argv);
	if (argc == 1) {
		master();
	} else if (argc == 3 && strcmp(argv[1], "-u") == 0) {
		become(argv[2]);
		title_set("cache");
		if (daemon(1, 0) != 0)
			return 1;
		serve();
	}
	return 0;
}
