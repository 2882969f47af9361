/* SPDX-License-Identifier: MIT */
/*
 * ctf_fixture.c - see ctf_fixture.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf_fixture.h"
#include "sample.h"
#include "util.h"

char trace[128];

void setup(void)
{
	snprintf(trace, sizeof(trace), "%s/trace", temp_dir());
}

void setup_monotonic(void)
{
	setup();
	setenv("TP_CLOCK", "monotonic", 1);
}

void record(int from, int to)
{
	for (int i = from; i < to; i++)
		trace_sample_int(i);
}

/* Threads make their packets themselves, unless options say who: so it is known which there are, and when. */
struct tp_sink *open_sink(const char *options)
{
	const bool said = options && strstr(options, "prepare=");
	char all[256];

	snprintf(all, sizeof(all), "%s%s", options ? options : "", said ? "" : options && *options ? ",prepare=self" : "prepare=self");
	struct tp_sink *sink = tp_ctf_sink(trace, all);

	ck_assert_msg(sink != NULL, "tp_ctf_sink: %s", strerror(errno));
	ck_assert_int_ge(tp_enable(sink, "sample:*"), 3);
	return sink;
}

void fails_with(const char *directory, int error)
{
	errno = 0;
	ck_assert_ptr_null(tp_ctf_sink(directory, NULL));
	ck_assert_int_eq(errno, error);
}

void put_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", trace, name);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

void close_saying(struct tp_sink *sink, const char *losses, int error)
{
	char expected[256] = "";

	if (losses)
		snprintf(expected, sizeof(expected), "tp: CTF trace '%s': records lost: %s\n", trace, losses);
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), error);
	char *messages = captured_stderr();
	ck_assert_str_eq(messages, expected);
	free(messages);
}

char *close_and_read(struct tp_sink *sink)
{
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), 0);
	free(captured_stderr());
	return clean_babeltrace(trace);
}
