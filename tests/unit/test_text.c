/* SPDX-License-Identifier: MIT */
/*
 * test_text.c - the text output: what a line looks like, and what becomes of it
 * on a full disk and the like. Threads, signals and forks are in test_text_threads.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/thread.h"
#include "sample.h"
#include "sinks/text/text.h"
#include "text_fixture.h"
#include "util.h"

static char *text;
static size_t text_size;

static void free_text(void)
{
	free(text);
	text = NULL;
}

/* What is written stands in text once the file is closed. */
static struct tp_sink *open_memory(FILE **file)
{
	if (!text)
		atexit(free_text);
	free_text();
	*file = open_memstream(&text, &text_size);
	struct tp_sink *sink = tp_text_sink(*file);
	ck_assert_ptr_nonnull(sink);
	ck_assert_int_ge(tp_enable(sink, "*"), 3);
	return sink;
}

/* What the sink prints for one sample_text, behind "sample:sample_text: ". */
static char *line_of(const char *string)
{
	static const char head[] = "sample:sample_text: ";
	FILE *file;
	struct tp_sink *sink = open_memory(&file);

	trace_sample_text(string);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	fclose(file);
	ck_assert_contains(text, head);
	return strstr(text, head) + sizeof(head) - 1;
}

TEST(nothing_to_write_to)
{
	errno = 0;
	ck_assert_ptr_null(tp_text_sink(NULL));
	ck_assert_int_eq(errno, EINVAL);
}

TEST(what_a_line_says)
{
	FILE *file;
	struct tp_sink *sink = open_memory(&file);
	struct timespec before, after;
	long long seconds;
	int nanoseconds, pid, tid, end = 0;

	clock_gettime(CLOCK_REALTIME, &before);
	trace_sample_int(-7);
	clock_gettime(CLOCK_REALTIME, &after);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	fclose(file);
	ck_assert_int_eq(sscanf(text, "%lld.%9d %d/%d sample:sample_int: value=-7%n", &seconds, &nanoseconds, &pid, &tid, &end), 4);
	ck_assert_str_eq(text + end, "\n");
	ck_assert_int_eq(pid, getpid());
	ck_assert_int_eq(tid, tp_thread_id());
	ck_assert_int_eq(strchr(text, ' ') - strchr(text, '.'), 10);
	long long time = seconds * 1000000000 + nanoseconds;
	ck_assert_int_ge(time, before.tv_sec * 1000000000ll + before.tv_nsec);
	ck_assert_int_le(time, after.tv_sec * 1000000000ll + after.tv_nsec);
}

TEST(a_line_stays_a_line)
{
	ck_assert_str_eq(line_of("plain"), "text=plain\n");
	ck_assert_str_eq(line_of("two\nlines"), "text=two\\nlines\n");
	ck_assert_str_eq(line_of("ends\n"), "text=ends\n");
	ck_assert_str_eq(line_of("ends\n\n"), "text=ends\\n\n");
	ck_assert_str_eq(line_of("\x01\x1b[31m\r\t\x7f"), "text=\\x01\\x1b[31m\\x0d\\x09\\x7f\n");
	ck_assert_str_eq(line_of("Gr\xc3\xbc\xc3\x9f \xff"), "text=Gr\xc3\xbc\xc3\x9f \\xff\n");
	ck_assert_str_eq(line_of("a\x9b" "2J\xc2\x9b" "2J"), "text=a\\x9b2J\\xc2\\x9b2J\n");
	ck_assert_str_eq(line_of("\xe2\x80\xae\xe6\xbc\xa2\xe2\x81\xa6"), "text=\\xe2\\x80\\xae\xe6\xbc\xa2\\xe2\\x81\\xa6\n");
	ck_assert_str_eq(line_of(""), "text=\n");
	ck_assert_str_eq(line_of(NULL), "text=(null)\n");
	ck_assert_str_eq(line_of("%s%n\\n"), "text=%s%n\\n\n");
}

/* Wherever it stands in the words that the sink looks at. */
TEST(every_byte_at_every_place)
{
	for (int c = 1; c < 256; c++) {
		for (size_t at = 0; at < 18; at += c < 128 ? 1 : 5) {
			char string[20] = "abcdefghijklmnopqr", shown[5] = {(char)c}, expected[40];
			if (c == '\n')
				strcpy(shown, "\\n");
			else if (c < ' ' || c >= 0x7f)
				snprintf(shown, sizeof(shown), "\\x%02x", c);
			string[at] = (char)c;
			snprintf(expected, sizeof(expected), "text=%.*s%s%s\n", (int)at, string, shown, string + at + 1);
			/* The very last newline goes. */
			ck_assert_str_eq(line_of(string), at == 17 && c == '\n' ? "text=abcdefghijklmnopq\n" : expected);
		}
	}
}

TEST(long_text)
{
	char *longest = malloc(TP_RECORD_MAX);
	char *printed;

	/* The longest that a record takes is printed whole. */
	memset(longest, 'x', TP_RECORD_MAX);
	longest[TP_RECORD_MAX - 13] = '\0';
	printed = line_of(longest);
	ck_assert_uint_eq(strlen(printed), strlen("text=") + TP_RECORD_MAX - 13 + 1);
	ck_assert_lacks(printed, "...");
	/* Where escapes make it longer than a line can be, its end shows that. */
	memset(longest, '\x01', TP_RECORD_MAX - 13);
	printed = line_of(longest);
	ck_assert_str_eq(printed + strlen(printed) - 4, "...\n");
	ck_assert_uint_eq(count_of(printed, "\n"), 1);
	free(longest);
}

TEST(errno_is_kept)
{
	FILE *full = fopen("/dev/full", "w");
	struct tp_sink *sink = tp_text_sink(full);

	setvbuf(full, NULL, _IONBF, 0);
	tp_enable(sink, "*");
	capture_stderr();
	errno = ENOTDIR;
	trace_sample_int(1);
	ck_assert_int_eq(errno, ENOTDIR);
	free(captured_stderr());
	tp_sink_close(sink);
	fclose(full);
}

/* ---- Errors ---- */

TEST(full_disk)
{
	FILE *full = fopen("/dev/full", "w");
	struct tp_sink *sink = tp_text_sink(full);

	setvbuf(full, NULL, _IOLBF, 4096);
	tp_enable(sink, "*");
	capture_stderr();
	for (int i = 0; i < 10; i++)
		trace_sample_int(i);
	ck_assert_uint_eq(tp_sink_lost(sink), 10);
	ck_assert_int_eq(tp_sink_close(sink), -ENOSPC);
	char *messages = captured_stderr();
	ck_assert_uint_eq(count_of(messages, "\n"), 2); /* what is wrong, once; what was lost */
	ck_assert_contains(messages, "tp: text output: writing failed: No space left on device");
	ck_assert_contains(messages, "tp: text output: records lost: 10");
	free(messages);
	fclose(full);
}

TEST(full_disk_seen_at_the_end)
{
	FILE *full = fopen("/dev/full", "w"); /* with a big buffer */
	struct tp_sink *sink = tp_text_sink(full);

	tp_enable(sink, "*");
	trace_sample_int(1);
	trace_sample_int(2);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), -ENOSPC);
	char *messages = captured_stderr();
	ck_assert_contains(messages, "No space left on device");
	ck_assert_contains(messages, "records lost: 2");
	free(messages);
	fclose(full);
}

/* The standard error becomes a pipe that never waits. */
static struct tp_sink *open_on_pipe(int *reader, int *before)
{
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	*reader = ends[0];
	*before = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	return enabled(tp_text_file_sink("stderr"));
}

static void put_back(int before)
{
	dup2(before, STDERR_FILENO);
	close(before);
}

TEST(slow_reader_of_standard_error)
{
	int reader, before;
	struct tp_sink *sink = open_on_pipe(&reader, &before);

	for (int i = 0; i < 9000; i++)
		trace_sample_int(i);
	const unsigned int nr = whole_lines(all_of(reader));
	put_back(before);
	ck_assert_uint_gt(nr, 100);
	ck_assert_uint_eq(nr + tp_sink_lost_by(sink, TP_LOST_LIMIT), 9000);
	ck_assert_uint_eq(tp_sink_lost(sink), tp_sink_lost_by(sink, TP_LOST_LIMIT));
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), 0); /* nothing is wrong with the output */
	char *messages = captured_stderr();
	ck_assert_contains(messages, "tp: text output: records lost: ");
	ck_assert_contains(messages, "(limit: ");
	ck_assert_uint_eq(count_of(messages, "\n"), 1);
	free(messages);
	close(reader);
}

/* A line that is longer than what a pipe takes at once: its rest comes before the next line. */
TEST(part_of_a_line_to_standard_error)
{
	static char string[20000];
	int reader, before;
	struct tp_sink *sink = open_on_pipe(&reader, &before);
	unsigned int nr = 0;

	memset(string, 'x', sizeof(string) - 1);
	for (int i = 0; i < 20; i++)
		trace_sample_text(string);
	static char all[1 << 20];
	strcpy(all, all_of(reader));
	ck_assert_int_ne(all[strlen(all) - 1], '\n');
	trace_sample_int(1);
	strcat(all, all_of(reader));
	put_back(before);
	nr = whole_lines(all);
	ck_assert_contains(all, "value=1\n");
	ck_assert_uint_eq(nr + tp_sink_lost_by(sink, TP_LOST_LIMIT), 21);
	tp_sink_close(sink);
	close(reader);
}

static volatile sig_atomic_t pipe_signals;

static void on_sigpipe(int signal)
{
	(void)signal;
	pipe_signals++;
}

TEST(reader_gone)
{
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	FILE *file = fdopen(ends[1], "w");
	setvbuf(file, NULL, _IOLBF, 4096);
	struct tp_sink *sink = tp_text_sink(file);
	tp_enable(sink, "*");
	trace_sample_int(1);
	close(ends[0]);
	capture_stderr();
	trace_sample_int(2); /* the default of SIGPIPE would end the program here */
	trace_sample_int(3);
	signal(SIGPIPE, on_sigpipe);
	trace_sample_int(4);
	ck_assert_int_eq(tp_sink_close(sink), -EPIPE);
	ck_assert_int_eq(pipe_signals, 0);
	raise(SIGPIPE); /* it is not blocked either */
	ck_assert_int_eq(pipe_signals, 1);
	char *messages = captured_stderr();
	ck_assert_contains(messages, "tp: text output: writing failed: Broken pipe");
	ck_assert_uint_eq(count_of(messages, "\n"), 2);
	free(messages);
	fclose(file);
}

/* Until the file is as long as it may be, and once it may be longer. */
LOOP_TEST(limit_on_file_sizes, 3)
{
	char path[128];
	const struct rlimit low = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
	const struct rlimit high = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};
	static const int modes[] = {_IONBF, _IOLBF, _IOFBF};

	snprintf(path, sizeof(path), "%s/log", temp_dir());
	FILE *file = fopen(path, "a");
	struct tp_sink *sink = tp_text_sink(file);
	setvbuf(file, NULL, modes[_i], 1024);
	tp_enable(sink, "*");
	capture_stderr();
	setrlimit(RLIMIT_FSIZE, &low);
	for (int i = 0; i < 1000; i++)
		trace_sample_int(i); /* the default of SIGXFSZ would end the program here */
	setrlimit(RLIMIT_FSIZE, &high);
	for (int i = 0; i < 100; i++)
		trace_sample_int(1000 + i);
	unsigned long lost = tp_sink_lost(sink);
	ck_assert_uint_gt(lost, 500);
	ck_assert_int_eq(tp_sink_close(sink), -EFBIG);
	fclose(file);
	char *messages = captured_stderr(), *log = read_file(path);
	ck_assert_contains(messages, "tp: text output: writing failed: File too large");
	ck_assert_uint_eq(count_of(messages, "\n"), 2);
	ck_assert_contains(log, "value=1099\n");
	free(messages);
	free(log);
}
