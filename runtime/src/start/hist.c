/* SPDX-License-Identifier: MIT */
/*
 * start/hist.c - see hist.h.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/end_file.h"
#include "base/file.h"
#include "base/message.h"
#include "base/text.h"
#include "sinks/hist/hist.h"
#include "start/hist.h"
#include "triggers/triggers.h"

static struct tp_end_file file; /* without a path: standard error */
static struct tp_guarded_fd standard_error = TP_GUARDED_FD_NONE;

void tp_start_hists_begin(const char *path)
{
	if (!path)
		tp_guarded_fd_borrow(&standard_error, STDERR_FILENO);
	if (!tp_end_file_begin(&file, path))
		tp_complain("TP_HIST=%s: %s; nothing is written", path, tp_strerror(ENOMEM));
}

/* ---- The end of the program ---- */

struct output {
	struct tp_buffer text, losses;
	bool json;
	unsigned int nr;
};

static void add(struct tp_sink *sink, void *data)
{
	struct output *output = data;

	if (tp_end_file_in_child(&file) && !tp_hist_has_hits(sink))
		return;
	if (output->json)
		tp_buffer_printf(&output->text, output->nr ? "," : "[");
	else if (output->nr)
		tp_buffer_printf(&output->text, "\n\n");
	output->nr++;
	tp_hist_report(sink, output->json, &output->text);
	tp_hist_put_losses(sink, &output->losses);
}

static bool ends_in(const char *text, const char *end)
{
	const size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static int write_all(const struct tp_buffer *text)
{
	if (file.path)
		return tp_end_file_write(&file, text);
	const int fd = tp_guarded_fd_descriptor(&standard_error);
	return fd < 0 ? EBADF : tp_file_write(fd, text->text, text->len);
}

/* Of lines. */
static void tell_losses(const struct tp_buffer *losses)
{
	const char *line = losses->failed ? NULL : losses->text;

	for (; line && *line; line += strcspn(line, "\n") + 1)
		tp_complain("%.*s", (int)strcspn(line, "\n"), line);
}

void tp_start_hists_end(void)
{
	struct output output = {.json = file.path && ends_in(file.path, ".json")};

	tp_triggers_end(add, &output);
	if (output.nr && output.json)
		tp_buffer_printf(&output.text, "]\n");
	const int error = output.text.failed ? ENOMEM : output.nr ? write_all(&output.text) : 0;
	if (error)
		tp_complain("the histograms of TP_TRIGGER are not written to %s: %s; TP_HIST=PATH says where they are to be",
			    file.path ? file.path : "standard error", tp_strerror(error));
	tell_losses(&output.losses);
	tp_buffer_free(&output.text);
	tp_buffer_free(&output.losses);
}
