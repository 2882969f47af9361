/* SPDX-License-Identifier: MIT */
/* test_stats.h - a statistics sink under test, and what its file says; for each program that includes it. */
#ifndef TP_TEST_STATS_H
#define TP_TEST_STATS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sinks/stats/stats.h"
#include "util.h"

static char file[192];

static inline void setup_file(void)
{
	snprintf(file, sizeof(file), "%s/stats", temp_dir());
}

static inline struct tp_sink *open_sink(const char *options)
{
	struct tp_sink *sink = tp_stats_sink(file, options);

	ck_assert_ptr_nonnull(sink);
	ck_assert_int_ge(tp_enable(sink, "*"), 3);
	return sink;
}

/* The number behind this, behind that in the file; -1 where there is none. */
static inline long long number_in(const char *path, const char *that, const char *key)
{
	char quoted[128];
	char *text = read_file(path);
	const char *at = strstr(text, that);

	snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
	at = at ? strstr(at, quoted) : NULL;
	long long number = at ? strtoll(at + strlen(quoted), NULL, 10) : -1;
	free(text);
	return number;
}

static inline long long hits(const char *event)
{
	char that[128];

	snprintf(that, sizeof(that), "\"event\": \"sample:%s\"", event);
	return number_in(file, that, "hits");
}

static inline void file_has(const char *needle)
{
	char *text = read_file(file);

	ck_assert_contains(text, needle);
	free(text);
}

static inline bool comes_to(long long wanted)
{
	for (int i = 0; i < 60000; i++) {
		if (access(file, F_OK) == 0 && hits("sample_int") == wanted)
			return true;
		usleep(10000);
	}
	return false;
}

#endif /* TP_TEST_STATS_H */
