/* SPDX-License-Identifier: MIT */
/*
 * test_stats_options.c - the options of the statistics output: what they mean,
 * and what is said where they mean nothing; and files that it refuses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sample.h"
#include "sinks/stats/stats.h"
#include "util.h"

#define S ((uint64_t)1000000000)

static const struct {
	const char *text;
	bool json, by_thread;
	uint64_t interval_ns, top;
	const char *fields[3]; /* "PATTERN FIELD" of each selector */
} good[] = {
	{NULL, false, false, S, 10, {NULL}},
	{"", false, false, S, 10, {NULL}},
	{"json", true, false, S, 10, {NULL}},
	{"by=thread", false, true, S, 10, {NULL}},
	{"interval=0", false, false, 0, 10, {NULL}},
	{"interval=0.0", false, false, 0, 10, {NULL}},
	{"interval=5", false, false, 5 * S, 10, {NULL}},
	{"interval=0.01", false, false, S / 100, 10, {NULL}},
	{"interval=1.5", false, false, S / 2 * 3, 10, {NULL}},
	{"interval=2.", false, false, 2 * S, 10, {NULL}},
	{"interval=0.1000000001", false, false, S / 10, 10, {NULL}},
	{"interval=86400", false, false, 86400 * S, 10, {NULL}},
	{"children=end", false, false, S, 10, {NULL}},
	{"children=live", false, false, S, 10, {NULL}},
	{"top=1", false, false, S, 1, {NULL}},
	{"top=1000", false, false, S, 1000, {NULL}},
	{"field=sample:sample_int.value", false, false, S, 10, {"sample:sample_int value"}},
	{"field=*.len", false, false, S, 10, {"sample:other len"}},
	{"field=net:*.bytes+sched_*.prev", false, false, S, 10, {"net:in bytes", "x:sched_out prev"}},
	{"field=a.b,json,field=c.d", true, false, S, 10, {"x:a b", "x:c d"}},
	{"field=a?[.]b.c", false, false, S, 10, {"x:aa.b c"}}, /* the last dot counts */
};

static char file[192];

static void setup_file(void)
{
	snprintf(file, sizeof(file), "%s/stats", temp_dir());
}

FIXTURE(setup_file, NULL)

LOOP_TEST(good_options, NR_OF(good))
{
	struct tp_stats_options options;
	size_t nr = 0;

	capture_stderr();
	ck_assert(tp_stats_options_parse(&options, good[_i].text, "file"));
	char *messages = captured_stderr();
	ck_assert_str_eq(messages, "");
	free(messages);
	ck_assert_int_eq(options.json, good[_i].json);
	ck_assert_int_eq(options.by_thread, good[_i].by_thread);
	ck_assert_int_eq(options.live_children, !good[_i].text || strcmp(good[_i].text, "children=end") != 0);
	ck_assert_uint_eq(options.interval_ns, good[_i].interval_ns);
	ck_assert_uint_eq(options.top, good[_i].top);
	for (; nr < 3 && good[_i].fields[nr]; nr++) {
		char event[64];
		const char *blank = strchr(good[_i].fields[nr], ' ');
		snprintf(event, sizeof(event), "%.*s", (int)(blank - good[_i].fields[nr]), good[_i].fields[nr]);
		ck_assert_uint_lt(nr, options.nr_selectors);
		ck_assert(tp_pattern_matches(options.selectors[nr].pattern, event));
		ck_assert(!tp_pattern_matches(options.selectors[nr].pattern, "no:such") || strstr(good[_i].text, "*."));
		ck_assert_str_eq(options.selectors[nr].field, blank + 1);
	}
	ck_assert_uint_eq(options.nr_selectors, nr);
	tp_stats_options_free(&options);
}

#define BY "by= takes thread"
#define INTERVAL "interval= takes seconds, from 0.01 to 86400, or 0 for never"
#define FIELD "field= takes EVENTS.FIELD, or some with + between, as in sched:*.prev_state+net:net_request.size"
#define TOP "top= takes a number from 1 to 1000"
#define CHILDREN "children= takes end or live"

static const struct {
	const char *text, *option, *message;
} wrong[] = {
	{"json=1", NULL, "json takes no value"},
	{"json=", NULL, "json takes no value"},
	{"by", NULL, BY},
	{"by=", NULL, BY},
	{"by=cpu", NULL, BY},
	{"interval", NULL, INTERVAL},
	{"interval=", NULL, INTERVAL},
	{"interval=.5", NULL, INTERVAL},
	{"interval=-1", NULL, INTERVAL},
	{"interval=1s", NULL, INTERVAL},
	{"interval=1e3", NULL, INTERVAL},
	{"interval=0.009", NULL, INTERVAL},
	{"interval=86401", NULL, INTERVAL},
	{"interval=86400.1", NULL, INTERVAL},
	{"interval=99999999999999999999", NULL, INTERVAL},
	{"top=0", NULL, TOP},
	{"top=1001", NULL, TOP},
	{"top=-1", NULL, TOP},
	{"top=1K", NULL, TOP},
	{"children", NULL, CHILDREN},
	{"children=", NULL, CHILDREN},
	{"children=no", NULL, CHILDREN},
	{"field=", NULL, FIELD},
	{"field=a", NULL, FIELD},
	{"field=a.", NULL, FIELD},
	{"field=.b", NULL, FIELD},
	{"field=!a.b", NULL, FIELD},
	{"field=a.b+", NULL, FIELD},
	{"field=+a.b", NULL, FIELD},
	{"field=a.b,top=x", "top=x", TOP},
	{"json,by=no", "by=no", BY},
};

/* There is no sink and no file; this line, and no other. */
static void is_refused(const char *options, const char *message)
{
	char expected[512];

	snprintf(expected, sizeof(expected), "tp: statistics '%s': %s; there are no statistics\n", file, message);
	capture_stderr();
	errno = 0;
	const struct tp_sink *sink = tp_stats_sink(file, options);
	int error = errno;
	char *messages = captured_stderr();
	ck_assert_ptr_null(sink);
	ck_assert_int_eq(error, EINVAL);
	ck_assert_str_eq(messages, expected);
	free(messages);
	ck_assert_int_ne(access(file, F_OK), 0);
}

LOOP_TEST(wrong_options, NR_OF(wrong))
{
	char message[256];

	snprintf(message, sizeof(message), "option '%s': %s", wrong[_i].option ? wrong[_i].option : wrong[_i].text,
		 wrong[_i].message);
	is_refused(wrong[_i].text, message);
}

LOOP_TEST(unknown_options, 6)
{
	static const char *const texts[][2] = {
		{"colour=red", "colour=red"}, {"JSON", "JSON"}, {"js", "js"}, {",json", ""}, {"json,", ""},
		{"=1", "=1"},
	};
	char message[256];

	snprintf(message, sizeof(message), "there is no option '%s'; there are json, by=, interval=, field=, top= and "
		 "children=", texts[_i][1]);
	is_refused(texts[_i][0], message);
}

/* ---- Files ---- */

static void fails_with(const char *name, int error)
{
	errno = 0;
	ck_assert_ptr_null(tp_stats_sink(name, NULL));
	ck_assert_int_eq(errno, error);
}

TEST(files_that_cannot_be)
{
	char name[256];

	fails_with(NULL, EINVAL);
	snprintf(name, sizeof(name), "%s/missing/stats", temp_dir());
	fails_with(name, ENOENT);
	snprintf(name, sizeof(name), "%s/link", temp_dir());
	ck_assert_int_eq(symlink("/nowhere/at/all/x", name), 0);
	capture_stderr();
	fails_with("/dev/null", EINVAL);
	fails_with("/dev/../dev/null", EINVAL);
	fails_with("/proc/self/fd/2", EINVAL);
	fails_with(name, EINVAL);
	fails_with("/tmp", EINVAL);
	fails_with("/tmp/", EINVAL);
	fails_with("", EINVAL);
	char *messages = captured_stderr();
	ck_assert_uint_eq(count_of(messages, "that is no file, and can't be replaced by one"), 7);
	ck_assert_uint_eq(count_of(messages, "\n"), 7);
	free(messages);
}

TEST(a_link_stays_one)
{
	char link[256];
	struct stat st;

	snprintf(link, sizeof(link), "%s.link", file);
	ck_assert_int_eq(symlink("stats", link), 0);
	fclose(fopen(file, "we"));
	struct tp_sink *sink = tp_stats_sink(link, "interval=0");
	ck_assert_ptr_nonnull(sink);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_int_gt(st.st_size, 0);
}

#define MANY 40

TEST(many_at_once)
{
	struct tp_sink *sinks[MANY];
	char name[256];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%s%d", file, i);
		sinks[i] = tp_stats_sink(name, "json,interval=0");
		ck_assert_ptr_nonnull(sinks[i]);
		ck_assert_int_ge(tp_enable(sinks[i], "*"), 3);
		fails_with(name, EBUSY); /* two would replace it in turns */
	}
	trace_sample_int(1);
	for (int i = MANY - 1; i >= 0; i--)
		ck_assert_int_eq(tp_sink_close(sinks[i]), 0);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%s%d", file, i);
		char *text = read_file(name);
		ck_assert_contains(text, "\"event\": \"sample:sample_int\", \"hits\": 1,");
		free(text);
	}
}

TEST(write_is_for_statistics)
{
	FILE *f = tmpfile();
	struct tp_sink *text = tp_text_sink(f);

	ck_assert_int_eq(tp_stats_write(NULL), -EINVAL);
	ck_assert_int_eq(tp_stats_write(text), -EINVAL);
	tp_sink_close(text);
	fclose(f);
}
