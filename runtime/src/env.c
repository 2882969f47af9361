/* SPDX-License-Identifier: MIT */
/*
 * env.c - TP_ENABLE and TP_OUTPUT: tracing without a line of code in the
 * program. Whatever is wrong with them is said once, and the program goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <urcu/urcu-bp.h>

#include <tp/tp.h>

#include "internal.h"

static struct tp_sink *sink;
static FILE *file; /* the text sink's; NULL for others */

/* stdio would take it from malloc in the middle of a signal handler. */
static char file_buffer[BUFSIZ];

/* "%p" in the name becomes the process's id. The caller frees it. */
static char *expand(const char *name)
{
	struct tp_buffer b = {.text = NULL};
	const char *percent;

	for (; (percent = strstr(name, "%p")); name = percent + 2)
		tp_buffer_printf(&b, "%.*s%d", (int)(percent - name), name, (int)getpid());
	tp_buffer_printf(&b, "%s", name);
	if (b.failed)
		tp_buffer_free(&b);
	return b.text;
}

/*
 * A stream of our own on the program's stdout or stderr: a signal handler may
 * have interrupted the program in the middle of its use of its own.
 */
static FILE *open_standard(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (!f && copy >= 0)
		close(copy);
	return f;
}

static struct tp_sink *open_text(const char *name)
{
	if (strcmp(name, "stderr") == 0)
		file = open_standard(STDERR_FILENO);
	else if (strcmp(name, "stdout") == 0)
		file = open_standard(STDOUT_FILENO);
	else
		file = fopen(name, "we");
	if (!file)
		return NULL;
	setvbuf(file, file_buffer, _IOLBF, sizeof(file_buffer));
	struct tp_sink *opened = tp_text_sink(file);
	if (!opened) {
		int error = errno;
		fclose(file);
		file = NULL;
		errno = error;
	}
	return opened;
}

/* DIRECTORY[,OPTION...] */
static struct tp_sink *open_ctf(char *directory)
{
	char *options = strchr(directory, ',');

	if (options)
		*options++ = '\0';
	return tp_ctf_sink(directory, options);
}

static const char *advice(int error, bool ctf)
{
	if (ctf && error == EEXIST)
		return "; there is a trace in it already: take another directory, or put %p, the process id, in its name";
	if (ctf && error == EINVAL)
		return "; the option is packet=SIZE, from 4K to 1G";
	return "";
}

static struct tp_sink *open_output(const char *output)
{
	bool ctf = strncmp(output, "ctf:", 4) == 0;
	const char *colon = strchr(output, ':');

	if (!ctf && strncmp(output, "text:", 5) != 0) {
		tp_complain("TP_OUTPUT=%s: unknown kind '%.*s'; use text:stderr, text:stdout, text:FILE or ctf:DIRECTORY",
			    output, colon ? (int)(colon - output) : (int)strlen(output), output);
		return NULL;
	}
	if (!colon[1]) {
		tp_complain("TP_OUTPUT=%s: the name is missing; use text:stderr, text:stdout, text:FILE or ctf:DIRECTORY",
			    output);
		return NULL;
	}
	char *name = expand(colon + 1);
	errno = ENOMEM;
	struct tp_sink *opened = !name ? NULL : ctf ? open_ctf(name) : open_text(name);
	if (!opened)
		tp_complain("TP_OUTPUT=%s: %s%s; nothing is traced", output, strerror(errno), advice(errno, ctf));
	free(name);
	return opened;
}

static const char *setting(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL; /* NAME= is how shells take a setting back */
}

static void start(void)
{
	const char *patterns = setting("TP_ENABLE");
	const char *output = setting("TP_OUTPUT");
	int error = 0;

	if (!patterns && !output)
		return;
	/* Looked at first, so that a mistake in it leaves no empty trace. */
	tp_pattern_free(tp_pattern_new(patterns ? patterns : "*", &error));
	if (error == -EINVAL)
		tp_complain("TP_ENABLE=%s: no list of patterns; write for example sched:*,!sched:sched_wakeup; nothing "
			    "is traced",
			    patterns);
	if (error)
		return;
	sink = open_output(output ? output : "text:stderr");
	if (!sink)
		return;
	error = tp_enable(sink, patterns ? patterns : "*");
	if (error < 0)
		tp_complain("TP_ENABLE=%s: %s; not everything is traced", patterns ? patterns : "*", strerror(-error));
}

void tp_env_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}

/*
 * Behind the destructors of the program and of its modules, so that their
 * last words are recorded. In a program that calls exit() from inside a
 * probe the sink stays open: its lines are written, its packets valid.
 */
static void __attribute__((destructor(101))) stop(void)
{
	if (!sink || urcu_bp_read_ongoing())
		return;
	if (!tp_sink_used(sink) && setting("TP_ENABLE"))
		tp_complain("TP_ENABLE=%s: no event of this program has such a name; nothing was traced",
			    setting("TP_ENABLE"));
	tp_sink_close(sink); /* which says what is wrong */
	sink = NULL;
	if (file)
		fclose(file);
	file = NULL;
}
