/* SPDX-License-Identifier: MIT */
#include "report/header.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "fail_msg.h"

#define TRACES_TOLD 8
#define DIM "\33[2m"
#define PLAIN "\33[0m"

static void put_value(struct tp_buffer *line, const char *before, const char *text, size_t len, const char *behind)
{
	if (!len)
		return;
	tp_buffer_printf(line, "%s", before);
	tp_buffer_put_plain(line, text, len);
	tp_buffer_printf(line, "%s", behind);
}

/* "trace: ./server (1234) on vm, 2026-11-27T07:49:59Z (tsc)" */
static void put_trace(struct tp_buffer *line, const struct trace *trace)
{
	const struct metadata *m = &trace->metadata;
	char text[512];

	put_value(line, "# ", trace->dir.folder.path, strlen(trace->dir.folder.path), ": ");
	if (!metadata_origin(m, "program", text, sizeof(text)))
		metadata_origin(m, "procname", text, sizeof(text));
	put_value(line, "", text, strlen(text), "");
	put_value(line, " (", text, metadata_origin(m, "pid", text, sizeof(text)), ")");
	put_value(line, " on ", text, metadata_origin(m, "hostname", text, sizeof(text)), "");
	put_value(line, ", ", text, metadata_origin(m, "trace_creation_datetime", text, sizeof(text)), "");
	put_value(line, " (", text, metadata_clock(m, "name", text, sizeof(text)), ")");
}

bool header_print(const struct traces *traces, bool with_colours)
{
	struct tp_buffer text = {.text = NULL};

	for (size_t i = 0; i < traces->nr && i < TRACES_TOLD; i++) {
		tp_buffer_printf(&text, "%s", with_colours ? DIM : "");
		put_trace(&text, &traces->traces[i]);
		tp_buffer_printf(&text, "%s\n", with_colours ? PLAIN : "");
	}
	if (traces->nr > TRACES_TOLD)
		tp_buffer_printf(&text, "# and %zu more\n", traces->nr - TRACES_TOLD);
	const bool good = !text.failed && (!text.len || fwrite(text.text, 1, text.len, stdout) == text.len);
	const int error = text.failed ? ENOMEM : errno;
	tp_buffer_free(&text);
	return good || fail_msg("the output can't be written: %s", strerror(error));
}
