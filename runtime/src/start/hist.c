/* SPDX-License-Identifier: MIT */
/*
 * start/hist.c - see hist.h.
 *
 * A forked child that has counted anything writes its own, into a file of its own: PATH-PID, unless the path says where the
 * process's id is to be.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "base/options.h"
#include "base/text.h"
#include "sinks/hist/hist.h"
#include "start/hist.h"
#include "triggers/triggers.h"

static char *file; /* absolute: the program may change its directory. NULL: standard error */
static size_t directory_len; /* what of it is not the user's */
static struct tp_guarded_fd standard_error = TP_GUARDED_FD_NONE;
static pid_t begun_by;

static char *absolute(const char *path)
{
	char *directory = *path == '/' ? NULL : getcwd(NULL, 0);
	char *result;

	if (asprintf(&result, "%s%s%s", directory ? directory : "", directory ? "/" : "", path) < 0)
		result = NULL;
	directory_len = directory ? strlen(directory) : 0;
	free(directory);
	return result;
}

void tp_start_hists_begin(const char *path)
{
	begun_by = getpid();
	if (!path)
		tp_guarded_fd_borrow(&standard_error, STDERR_FILENO);
	else if (!(file = absolute(path)))
		tp_complain("TP_HIST=%s: %s; nothing is written", path, tp_strerror(ENOMEM));
}

/* ---- The end of the program ---- */

struct output {
	struct tp_buffer text;
	bool json;
	unsigned int nr;
};

static void add(struct tp_sink *sink, void *data)
{
	struct output *output = data;

	if (getpid() != begun_by && !tp_hist_has_hits(sink))
		return;
	if (output->json)
		tp_buffer_printf(&output->text, output->nr ? "," : "[");
	else if (output->nr)
		tp_buffer_printf(&output->text, "\n\n");
	output->nr++;
	tp_hist_report(sink, output->json, &output->text);
}

static bool ends_in(const char *text, const char *end)
{
	const size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* For free(). */
static char *file_of_process(void)
{
	const char *pattern = file + directory_len;
	const pid_t pid = getpid();
	char *name = NULL;

	if (pid != begun_by && !strstr(pattern, "%p"))
		return asprintf(&name, "%s-%d", file, (int)pid) < 0 ? NULL : name;
	name = malloc(directory_len + tp_pid_name_size(pattern));
	if (name)
		tp_pid_name(mempcpy(name, file, directory_len), pattern, (int)pid);
	return name;
}

static int write_file(const struct tp_buffer *text)
{
	char *name = file_of_process();

	if (!name)
		return ENOMEM;
	const int fd = tp_file_open(name, O_TRUNC | O_NOFOLLOW, 0600);
	int error = fd < 0 ? errno : 0;
	if (error == EACCES)
		tp_complain_of_foreign(name);
	free(name);
	if (error)
		return error;
	error = tp_file_write(fd, text->text, text->len);
	return close(fd) != 0 && !error ? errno : error;
}

static int write_all(const struct tp_buffer *text)
{
	if (file)
		return write_file(text);
	const int fd = tp_guarded_fd_descriptor(&standard_error);
	return fd < 0 ? EBADF : tp_file_write(fd, text->text, text->len);
}

void tp_start_hists_end(void)
{
	struct output output = {.json = file && ends_in(file, ".json")};

	tp_triggers_end(add, &output);
	if (output.nr && output.json)
		tp_buffer_printf(&output.text, "]\n");
	const int error = output.text.failed ? ENOMEM : output.nr ? write_all(&output.text) : 0;
	if (error)
		tp_complain("the histograms of TP_TRIGGER are not written to %s: %s; TP_HIST=PATH says where they are to be",
			    file ? file : "standard error", tp_strerror(error));
	tp_buffer_free(&output.text);
}
