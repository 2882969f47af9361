/* SPDX-License-Identifier: MIT */
/*
 * test_ctf_format.c - the format texts beside the streams of a CTF trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "describe.h"
#include "ctf_fixture.h"
#include "events/events.h"
#include "failing_malloc.h"
#include "sample.h"
#include "sinks/ctf/describe/format.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/sink.h"
#include "util.h"

/* The file of a system below the trace. */
static char *format_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/format/%s", trace, name);
	return read_file(path);
}

/* What it is to have of an event. */
static char *format_of(const struct tp_event *event)
{
	static char text[16384];
	struct trace_seq seq;

	trace_seq_init(&seq, text, sizeof(text));
	ck_assert_int_eq(tp_event_format(event, &seq), 0);
	return text;
}

FIXTURE(setup, NULL)

TEST(all_of_a_system)
{
	static struct sample_module later, other;
	struct tp_sink *sink = open_sink(NULL);
	struct stat st;
	char path[256];

	sample_module_init(&later, "sample", "later", "int");
	sample_module_init(&other, "other", "other", "int");
	tp_module_load(&later.module);
	tp_module_load(&other.module);
	sample_module_hit(&later, 1);
	ck_assert_int_eq(tp_sink_close(sink), 0);

	char *text = format_file("sample");
	const char *at = find(text, format_of(&tp_event_sample_int));
	ck_assert_ptr_nonnull(at);
	at = find(text, format_of(&tp_event_sample_kinds));
	ck_assert_ptr_nonnull(at);
	at = find(text, format_of(&tp_event_sample_text));
	ck_assert_ptr_nonnull(at);
	at = find(text, format_of(&later.event));
	ck_assert_ptr_nonnull(at);
	ck_assert_str_eq(at, format_of(&later.event)); /* the last one */
	ck_assert_uint_eq(count_of(text, "\n\nname: "), 3);
	ck_assert_int_eq(strncmp(text, "name: ", 6), 0);
	free(text);
	text = format_file("other");
	ck_assert_str_eq(text, format_of(&other.event));
	free(text);
	snprintf(path, sizeof(path), "%s/format/sample", trace);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	snprintf(path, sizeof(path), "%s/format", trace);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	free(clean_babeltrace(trace));
}

/* It is nobody's, and has no spare descriptors. */
static struct tp_ctf_sink no_sink = {.dirs = &no_sink.first_dir, .first_dir.fd = TP_GUARDED_FD_NONE};

/* Adds an event of the system, which nothing is known of but its name. */
static void add(struct tp_ctf_formats *formats, const char *system, const char *name)
{
	const struct tp_event_class *class = describe(&(struct parts){.fixed_size = sizeof(struct trace_entry), .print_fmt = "\"\""});
	const struct tp_event event = {.system = system, .name = name, .event_class = class, .id = 1};

	tp_ctf_format_add(formats, &event);
}

static int open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	ck_assert_int_ge(fd, 0);
	return fd;
}

TEST(names_that_are_no_files)
{
	static const char *const names[][2] = {
		{"plain-1_2", "plain-1_2"}, {"a/../b", "a%2F..%2Fb"}, {"../x", "%2E.%2Fx"}, {".", "%2E"},
		{"..", "%2E."}, {"", "%00"}, {"metadata", "%6Detadata"}, {"%6Detadata", "%256Detadata"}, {"a\nb", "a%0Ab"},
	};
	struct tp_ctf_formats formats = {.sink = &no_sink};
	size_t nr = sizeof(names) / sizeof(names[0]);
	char longest[NAME_MAX + 2] = "";

	ck_assert_int_eq(mkdir(trace, 0700), 0);
	int dir = open_dir(trace);
	for (size_t i = 0; i < nr; i++)
		add(&formats, names[i][0], "event");
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), 0);
	for (size_t i = 0; i < nr; i++) {
		char *text = format_file(names[i][1]);
		ck_assert_uint_eq(count_of(text, "name: event\n"), 1);
		free(text);
	}
	char path[256];
	snprintf(path, sizeof(path), "%s/format", trace);
	ck_assert_uint_eq(count_files(path, ""), nr + 2);
	ck_assert_uint_eq(count_files(trace, ""), 3);
	memset(longest, 'x', sizeof(longest) - 1);
	add(&formats, longest, "event");
	add(&formats, "plain-1_2", "another");
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), ENAMETOOLONG);
	char *text = format_file("plain-1_2"); /* is written all the same */
	ck_assert_contains(text, "\n\nname: another\n");
	free(text);
	tp_ctf_format_free(&formats);
	close(dir);
}

/* Only those who write events by hand can do that. */
TEST(system_that_is_no_word)
{
	static struct sample_module odd;
	struct tp_sink *sink = open_sink(NULL);

	sample_module_init(&odd, "/..\"\n*/", "odd\\", "int");
	tp_module_load(&odd.module);
	ck_assert_int_eq(tp_enable(sink, "*:odd*"), 1);
	sample_module_hit(&odd, 3);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = clean_babeltrace(trace);
	ck_assert_contains(text, "value = 3");
	free(text);
	text = format_file("%2F..\"%0A*%2F");
	ck_assert_str_eq(text, format_of(&odd.event));
	free(text);
}

TEST(in_another_directory)
{
	struct tp_ctf_formats formats = {.sink = &no_sink};
	const char *other = temp_dir();
	char path[256];

	ck_assert_int_eq(mkdir(trace, 0700), 0);
	int dir = open_dir(trace);
	int copy = open_dir(other);
	ck_assert_int_eq(tp_ctf_format_copy(&formats, copy), 0);
	add(&formats, "one", "a");
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), 0);
	add(&formats, "two", "refused");
	tp_ctf_format_drop(&formats);
	add(&formats, "one", "b");
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), 0);
	ck_assert_int_eq(tp_ctf_format_copy(&formats, copy), 0);
	char *first = format_file("one");
	snprintf(path, sizeof(path), "%s/format/one", other);
	char *second = read_file(path);
	ck_assert_str_eq(first, second);
	ck_assert_uint_eq(count_of(first, "\nprint fmt"), 2);
	free(first);
	free(second);
	snprintf(path, sizeof(path), "%s/format", other);
	ck_assert_uint_eq(count_files(path, "two"), 0);
	tp_ctf_format_free(&formats);
	close(dir);
	close(copy);
}

/* The trace is whole, and it was said once that the texts are not. */
static void check_without(const char *reason)
{
	static struct sample_module later;

	capture_stderr();
	struct tp_sink *sink = open_sink(NULL);
	sample_module_init(&later, "sample", "later", "int");
	tp_module_load(&later.module);
	sample_module_hit(&later, 5);
	trace_sample_int(6);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *messages = captured_stderr();
	ck_assert_contains(messages, reason);
	ck_assert_contains(messages, "/format' are incomplete: ");
	ck_assert_uint_eq(count_of(messages, "\n"), 1);
	free(messages);
	char *text = clean_babeltrace(trace);
	ck_assert_contains(text, "value = 5");
	ck_assert_contains(text, "value = 6");
	free(text);
}

/* Where the link leads, nothing is written. */
TEST(link_instead_of_the_file)
{
	char path[256], target[256];

	ck_assert_int_eq(mkdir(trace, 0700), 0);
	snprintf(path, sizeof(path), "%s/format", trace);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/format/sample", trace);
	snprintf(target, sizeof(target), "%s.target", trace);
	FILE *file = fopen(target, "w");
	fclose(file);
	ck_assert_int_eq(symlink(target, path), 0);
	struct tp_sink *sink = open_sink(NULL);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = read_file(target);
	ck_assert_str_eq(text, "");
	free(text);
	text = format_file("sample"); /* a new one, as an older trace's would be */
	ck_assert_contains(text, "name: sample_int\n");
	free(text);
}

TEST(no_directory)
{
	char path[256];

	ck_assert_int_eq(mkdir(trace, 0700), 0);
	snprintf(path, sizeof(path), "%s/format", trace);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/format/sample", trace);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	check_without("File exists");
}

TEST(too_long_for_the_limit)
{
	struct tp_ctf_formats formats = {.sink = &no_sink};
	const struct rlimit limit = {.rlim_cur = 1000, .rlim_max = RLIM_INFINITY};
	const struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	ck_assert_int_eq(mkdir(trace, 0700), 0);
	int dir = open_dir(trace);
	add(&formats, "one", "a");
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), 0);
	for (int i = 0; i < 10; i++)
		add(&formats, "one", "b");
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), EFBIG); /* and no signal */
	setrlimit(RLIMIT_FSIZE, &none);
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), 0); /* goes on */
	char *text = format_file("one");
	ck_assert_uint_eq(count_of(text, "print fmt"), 11);
	ck_assert_uint_eq(count_of(text, "\n\nname: b\n"), 10);
	free(text);
	tp_ctf_format_free(&formats);
	close(dir);
}

TEST(file_that_went_away)
{
	struct tp_ctf_formats formats = {.sink = &no_sink};
	char path[256];

	ck_assert_int_eq(mkdir(trace, 0700), 0);
	int dir = open_dir(trace);
	add(&formats, "one", "a");
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), 0);
	snprintf(path, sizeof(path), "%s/format/one", trace);
	ck_assert_int_eq(unlink(path), 0);
	add(&formats, "one", "b");
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), ENOENT);
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), 0); /* all of it, again */
	char *text = format_file("one");
	ck_assert_uint_eq(count_of(text, "name: "), 2);
	free(text);
	/* What would wait for a reader. */
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	add(&formats, "one", "c");
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), ENXIO);
	tp_ctf_format_free(&formats);
	close(dir);
}

TEST(thousand_events)
{
	struct tp_ctf_formats formats = {.sink = &no_sink};
	char name[32];

	ck_assert_int_eq(mkdir(trace, 0700), 0);
	int dir = open_dir(trace);
	ck_assert_int_eq(tp_events_start(), 0); /* the sample is filled in */
	for (int i = 0; i < 1000; i++) {
		struct tp_event event = tp_event_sample_kinds;
		snprintf(name, sizeof(name), "event%d", i);
		event.name = name;
		tp_ctf_format_add(&formats, &event);
	}
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), 0);
	char *text = format_file("sample");
	ck_assert_uint_eq(count_of(text, "name: event"), 1000);
	free(text);
	tp_ctf_format_free(&formats);
	close(dir);
}

/* A text longer than any buffer that is there beforehand. */
TEST(long_format)
{
	struct tp_ctf_formats formats = {.sink = &no_sink};
	char *print_fmt = malloc(300000);

	memset(print_fmt, 'x', 299999);
	print_fmt[299999] = '\0';
	const struct tp_event_class *class = describe(&(struct parts){.fixed_size = sizeof(struct trace_entry), .print_fmt = print_fmt});
	const struct tp_event event = {.system = "long", .name = "long", .event_class = class, .id = 1};
	ck_assert_int_eq(mkdir(trace, 0700), 0);
	int dir = open_dir(trace);
	tp_ctf_format_add(&formats, &event);
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), 0);
	char *text = format_file("long");
	ck_assert_ptr_nonnull(find(text, print_fmt));
	free(text);
	free(print_fmt);
	tp_ctf_format_free(&formats);
	close(dir);
}

TEST(no_memory_for_one)
{
	struct tp_ctf_formats formats = {.sink = &no_sink};

	ck_assert_int_eq(mkdir(trace, 0700), 0);
	int dir = open_dir(trace);
	add(&formats, "one", "a");
	fail_malloc_after(0);
	add(&formats, "one", "b");
	add(&formats, "two", "c");
	let_malloc_be();
	add(&formats, "one", "d");
	ck_assert_int_eq(tp_ctf_format_write(&formats, dir), ENOMEM);
	char *text = format_file("one");
	ck_assert_contains(text, "name: a\n");
	ck_assert_contains(text, "\n\nname: d\n");
	free(text);
	tp_ctf_format_free(&formats);
	close(dir);
}
