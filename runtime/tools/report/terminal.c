/* SPDX-License-Identifier: MIT */
#include "report/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fail_msg.h"

#define NOT_FOUND 127 /* the shell's status */

bool colour_parse(enum colour *colour, const char *text)
{
	static const char *const names[] = {[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*colour = (enum colour)i;
			return true;
		}
	}
	return false;
}

/* It shows lines, and nothing more. */
static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || strcmp(term, "dumb") == 0;
}

bool colour_is_wanted(enum colour colour)
{
	const char *no = getenv("NO_COLOR");

	if (colour != COLOUR_AUTO)
		return colour == COLOUR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && !is_dumb();
}

int terminal_columns(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* ---- The pager ---- */

static bool is_in_path(const char *name)
{
	char path[4096];
	const char *at = getenv("PATH");

	while (at && *at) {
		const size_t len = strcspn(at, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, name);
		if (access(path, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* NULL: there is none, or "cat", which does nothing more. On a dumb terminal, less would ask before it begins. */
static const char *find_command(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		command = !is_dumb() && is_in_path("less") ? "less" : "";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

static _Noreturn void be_pager(const char *command, const int pipe[2])
{
	dup2(pipe[0], STDIN_FILENO);
	close(pipe[0]);
	close(pipe[1]);
	/* Ends if all fits on one screen, shows colours, and leaves the text there; as git has it. */
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(NOT_FOUND);
}

bool pager_begin(struct pager *pager)
{
	const char *command = isatty(STDOUT_FILENO) ? find_command() : NULL;
	int ends[2];

	*pager = (struct pager){.command = command, .saved_stderr = -1};
	if (!command)
		return true;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return fail_msg("no pipe to the pager can be made: %s", strerror(errno));
	pager->pid = fork();
	if (pager->pid == 0)
		be_pager(command, ends);
	close(ends[0]);
	if (pager->pid < 0) {
		pager->pid = 0;
		close(ends[1]);
		return fail_msg("the pager can't be started: %s", strerror(errno));
	}
	/* ^C is the pager's; when it ends, nobody reads on. */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	dup2(ends[1], STDOUT_FILENO);
	if (isatty(STDERR_FILENO)) {
		pager->saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		dup2(ends[1], STDERR_FILENO);
	}
	close(ends[1]);
	return true;
}

bool pager_end(struct pager *pager)
{
	int status = 0;

	if (!pager->pid)
		return true;
	fflush(stdout);
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		close(null);
		clearerr(stdout); /* that nobody has read on is no failure */
	}
	if (pager->saved_stderr >= 0) {
		dup2(pager->saved_stderr, STDERR_FILENO);
		close(pager->saved_stderr);
	}
	while (waitpid(pager->pid, &status, 0) < 0 && errno == EINTR)
		;
	pager->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return fail_msg("the pager '%s' can't be run; --no-pager goes without", pager->command);
	return true;
}
