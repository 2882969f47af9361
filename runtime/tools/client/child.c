/* SPDX-License-Identifier: MIT */
#include "client/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/signals.h"
#include "fail_msg.h"

/* As shells have them. */
#define STATUS_NOT_RUNNABLE 126
#define STATUS_NOT_FOUND 127
#define STATUS_OF_SIGNAL 128

/* The child's end of it: errors of exec come through the pipe, which an exec that works closes. */
static void become(char *const *program, const struct setting settings[2], int pipe_end)
{
	signals_restore();
	if (setenv(settings[0].name, settings[0].value, 1) == 0 && setenv(settings[1].name, settings[1].value, 1) == 0)
		execvp(program[0], program);
	const int error = errno;
	while (write(pipe_end, &error, sizeof(error)) < 0 && errno == EINTR)
		continue;
	_exit(STATUS_NOT_FOUND);
}

bool child_start(struct child *child, char *const *program, const struct setting settings[2])
{
	int ends[2], error = 0;

	*child = (struct child){.status = STATUS_NOT_RUNNABLE};
	if (pipe2(ends, O_CLOEXEC) != 0)
		return fail_msg("'%s' can't be started: %s", program[0], strerror(errno));
	child->pid = fork();
	if (child->pid == 0)
		become(program, settings, ends[1]);
	close(ends[1]);
	if (child->pid < 0) {
		error = errno;
	} else {
		while (read(ends[0], &error, sizeof(error)) < 0 && errno == EINTR)
			continue;
	}
	close(ends[0]);
	if (!error)
		return true;
	if (child->pid > 0)
		waitpid(child->pid, NULL, 0);
	child->status = error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUNNABLE;
	return fail_msg("'%s' can't be started: %s", program[0], strerror(error));
}

bool child_start_traced(struct child *child, char *const *program, const char *output, const char *patterns)
{
	return child_start(child, program, (const struct setting[]){{"TP_OUTPUT", output}, {"TP_ENABLE", patterns}});
}

bool child_has_ended(struct child *child)
{
	if (!child->ended)
		child->ended = waitpid(child->pid, &child->status, WNOHANG) == child->pid;
	return child->ended;
}

void child_pass_on(const struct child *child, int sig)
{
	if (!child->ended && (sig == SIGTERM || sig == SIGHUP))
		kill(child->pid, sig);
}

int child_exit_status(const struct child *child)
{
	return WIFSIGNALED(child->status) ? STATUS_OF_SIGNAL + WTERMSIG(child->status) : WEXITSTATUS(child->status);
}

const char *child_crash(const struct child *child)
{
	static char text[128];

	if (!WIFSIGNALED(child->status))
		return NULL;
	snprintf(text, sizeof(text), "was killed by signal %d (%s)%s", WTERMSIG(child->status),
		 strsignal(WTERMSIG(child->status)), WCOREDUMP(child->status) ? ", with a core dump" : "");
	return text;
}
