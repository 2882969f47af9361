/* SPDX-License-Identifier: MIT */
/*
 * process_tree.c - each process of the family makes DIR/PID at its first event, by the %p in its TP_OUTPUT. If there is just
 * one, and it has ended, its trace becomes DIR itself, unless the kernel's is there, too.
 */
#include "client/process_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "client/child.h"
#include "client/directory.h"
#include "client/kernel_beside.h"
#include "client/recording.h"
#include "client/signals.h"
#include "client/status_line.h"
#include "fail_msg.h"

/* Whether a process has the trace open: it holds a lock then. */
static bool is_written(int dir)
{
	int fd = openat(dir, ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool written = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return written;
}

/* Moves everything in the directory from up to the directory to; the metadata last, which make it a trace. */
static bool move_up(int from, int to)
{
	DIR *list = fdopendir(dup(from));
	const struct dirent *entry;
	bool good = list != NULL;

	while (good && (entry = readdir(list)) != NULL) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strcmp(name, "metadata") != 0)
			good = renameat(from, name, to, name) == 0;
	}
	if (list)
		closedir(list);
	return good && renameat(from, "metadata", to, "metadata") == 0;
}

/* The trace of the only process becomes that of the directory. True: it has. */
static bool make_it_one(const char *path, const char *name)
{
	int top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int dir = top < 0 ? -1 : openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool done = dir >= 0 && !is_written(dir) && move_up(dir, top) && unlinkat(top, name, AT_REMOVEDIR) == 0;

	if (dir >= 0)
		close(dir);
	if (top >= 0)
		close(top);
	return done;
}

static int is_trace(const struct dirent *entry)
{
	return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

static void tell_each(const char *path, struct dirent **names, int nr)
{
	for (int i = 0; i < nr && signals_patience(1) > 0; i++) {
		char *one;
		if (asprintf(&one, "%s/%s", path, names[i]->d_name) < 0)
			return;
		tell_recorded(one, one, NULL, NULL);
		free(one);
	}
}

static void tell_family(const char *path, const char *program, const char *events, bool is_shared)
{
	struct dirent **names = NULL;
	char title[256];
	int nr = scandir(path, &names, is_trace, alphasort);

	snprintf(title, sizeof(title), "'%s'", program);
	if (nr == 0)
		fail_msg("nothing was recorded: %s has hit no event of '%s', has no tracepoints, or could not write to '%s', which it has "
		     "said then; \"tp list %s\" shows its events",
		     title, events, path, program);
	else if (nr == 1 && !is_shared && make_it_one(path, names[0]->d_name))
		tell_recorded(path, path, title, NULL);
	else
		tell_each(path, names, nr);
	for (int i = 0; i < nr; i++)
		free(names[i]);
	free(names);
}

static void follow(struct child *child)
{
	while (!child_has_ended(child)) {
		struct pollfd polled = {.fd = signals_fd(), .events = POLLIN};
		poll(&polled, 1, -1);
		for (int sig; (sig = signals_next());) {
			child_pass_on(child, sig);
			if (sig == SIGTSTP)
				signals_stop();
		}
	}
}

/* Whether processes of the family run, those that have gone into the background among them; the others are buried. */
static bool family_lives(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		continue;
	return pid == 0;
}

/* A daemon's first process ends at once, and its trace is still to come. True: they have ended, too. */
static bool follow_family(const char *program, const char *path)
{
	if (!family_lives())
		return true;
	fail_msg("'%s' has ended; processes that it has started go on, and record into '%s': ^C ends tp, and not them", program, path);
	while (family_lives()) {
		struct pollfd polled = {.fd = signals_fd(), .events = POLLIN};
		poll(&polled, 1, -1);
		for (int sig; (sig = signals_next());) {
			if (signal_ends(sig))
				return !family_lives();
			if (sig == SIGTSTP)
				signals_stop();
		}
	}
	return true;
}

/* *over: no process will record there any more. */
static int run(char *const *program, const char *path, const char *options, const char *events, struct kernel_recording *kernel, bool *over)
{
	struct child child;
	char *output;

	*over = true;
	if (asprintf(&output, "ctf:%s/%%p%s%s", path, *options ? "," : "", options) < 0) {
		fail_no_memory();
		return EXIT_FAILED;
	}
	if (kernel && !kernel_beside_start(kernel, path)) {
		free(output);
		return EXIT_FAILED;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* whoever is left behind becomes a child */
	const bool started = child_start_traced(&child, program, output, events);
	free(output);
	if (!started) {
		if (kernel)
			kernel_beside_stop(kernel, path, false);
		return child.status;
	}
	follow(&child);
	end_interrupted_line();
	if (child_crash(&child))
		fail_msg("'%s' (%d) %s; what it has recorded until then is kept", program[0], (int)child.pid,
		     child_crash(&child));
	*over = follow_family(program[0], path);
	tell_family(path, program[0], events, kernel != NULL);
	if (kernel)
		kernel_beside_stop(kernel, path, true);
	return child_exit_status(&child);
}

int family_record(char *const *program, const char *path, const char *options, const char *events, struct kernel_recording *kernel)
{
	char *absolute = absolute_path(path);
	int status = EXIT_FAILED;
	bool made = false, over = true;

	if (!absolute)
		return status;
	if (strpbrk(absolute, ",;%\n")) {
		fail_msg("'%s' can't be the directory of a program's trace: a comma, a semicolon or a percent sign in its path has another "
		     "meaning in TP_OUTPUT",
		     absolute);
		free(absolute);
		return EXIT_WRONG;
	}
	int dir = directory_for_trace(absolute, (uid_t)-1, (gid_t)-1, &made);
	if (dir >= 0 && signals_begin())
		status = run(program, absolute, options, events, kernel, &over);
	signals_end();
	if (dir >= 0)
		close(dir);
	if (made && over)
		rmdir(absolute); /* unless there is something in it */
	free(absolute);
	return status;
}
