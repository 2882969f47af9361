/* SPDX-License-Identifier: MIT */
/*
 * test_text.c - the text sink: what a line looks like, and what becomes of
 * it when threads, signals, forks and full disks come in between.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tp/tp.h>

#include "internal.h"
#include "sample.h"
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

START_TEST(nothing_to_write_to)
{
	errno = 0;
	ck_assert_ptr_null(tp_text_sink(NULL));
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(what_a_line_says)
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
END_TEST

START_TEST(a_line_stays_a_line)
{
	ck_assert_str_eq(line_of("plain"), "text=plain\n");
	ck_assert_str_eq(line_of("two\nlines"), "text=two\\nlines\n");
	ck_assert_str_eq(line_of("ends\n"), "text=ends\n");
	ck_assert_str_eq(line_of("ends\n\n"), "text=ends\\n\n");
	ck_assert_str_eq(line_of("\x01\x1b[31m\r\t\x7f"), "text=\\x01\\x1b[31m\\x0d\\x09\\x7f\n");
	ck_assert_str_eq(line_of("Gr\xc3\xbc\xc3\x9f \xff"), "text=Gr\xc3\xbc\xc3\x9f \xff\n");
	ck_assert_str_eq(line_of(""), "text=\n");
	ck_assert_str_eq(line_of(NULL), "text=(null)\n");
	ck_assert_str_eq(line_of("%s%n\\n"), "text=%s%n\\n\n");
}
END_TEST

/* Wherever it stands in the words that the sink looks at. */
START_TEST(every_byte_at_every_place)
{
	for (int c = 1; c < 256; c++) {
		for (size_t at = 0; at < 18; at += c < 128 ? 1 : 5) {
			char string[20] = "abcdefghijklmnopqr", shown[5] = {(char)c}, expected[40];
			if (c == '\n')
				strcpy(shown, "\\n");
			else if (c < ' ' || c == 0x7f)
				snprintf(shown, sizeof(shown), "\\x%02x", c);
			string[at] = (char)c;
			snprintf(expected, sizeof(expected), "text=%.*s%s%s\n", (int)at, string, shown, string + at + 1);
			/* The very last newline goes. */
			ck_assert_str_eq(line_of(string), at == 17 && c == '\n' ? "text=abcdefghijklmnopq\n" : expected);
		}
	}
}
END_TEST

START_TEST(long_text)
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
END_TEST

START_TEST(errno_is_kept)
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
END_TEST

/* ---- Errors ---- */

START_TEST(full_disk)
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
	ck_assert_contains(messages, "tp: text sink: writing failed: No space left on device");
	ck_assert_contains(messages, "tp: text sink: records lost: 10");
	free(messages);
	fclose(full);
}
END_TEST

START_TEST(full_disk_seen_at_the_end)
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
END_TEST

static volatile sig_atomic_t pipe_signals;

static void on_sigpipe(int signal)
{
	(void)signal;
	pipe_signals++;
}

START_TEST(reader_gone)
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
	ck_assert_contains(messages, "tp: text sink: writing failed: Broken pipe");
	ck_assert_uint_eq(count_of(messages, "\n"), 2);
	free(messages);
	fclose(file);
}
END_TEST

/* Until the file is as long as it may be, and once it may be longer. */
START_TEST(limit_on_file_sizes)
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
	ck_assert_contains(messages, "tp: text sink: writing failed: File too large");
	ck_assert_uint_eq(count_of(messages, "\n"), 2);
	ck_assert_contains(log, "value=1099\n");
	free(messages);
	free(log);
}
END_TEST

/* ---- Threads ---- */

#define NR_THREADS 8
#define PER_THREAD 2000

static void *writer(void *number)
{
	char string[200];

	memset(string, 'a' + (int)(uintptr_t)number, sizeof(string) - 1);
	string[sizeof(string) - 1] = '\0';
	for (int i = 0; i < PER_THREAD; i++)
		trace_sample_text(string);
	return NULL;
}

START_TEST(whole_lines_from_many_threads)
{
	char path[128];
	pthread_t threads[NR_THREADS];
	unsigned int lines[NR_THREADS] = {0};

	snprintf(path, sizeof(path), "%s/log", temp_dir());
	FILE *file = fopen(path, "w");
	struct tp_sink *sink = tp_text_sink(file);
	tp_enable(sink, "*");
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, writer, (void *)i);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	fclose(file);

	char *log = read_file(path), *rest = log, *line;
	while ((line = strsep(&rest, "\n")) && rest) {
		const char *string = strstr(line, "text=");
		ck_assert_msg(string != NULL, "no whole line: %s", line);
		string += 5;
		ck_assert_uint_eq(strspn(string, (char[]){*string, '\0'}), 199);
		ck_assert_uint_eq(strlen(string), 199);
		lines[*string - 'a']++;
	}
	for (int i = 0; i < NR_THREADS; i++)
		ck_assert_uint_eq(lines[i], PER_THREAD);
	free(log);
}
END_TEST

#define NR_OWN 20000

static void *own_lines(void *file)
{
	for (int i = 0; i < NR_OWN; i++) {
		flockfile(file);
		fputs("begin ", file);
		trace_sample_int(i);
		fputs("end\n", file);
		funlockfile(file);
	}
	return NULL;
}

/* No thread holds one lock and waits for the other. */
START_TEST(program_locks_the_file)
{
	pthread_t thread;
	char path[128];

	snprintf(path, sizeof(path), "%s/log", temp_dir());
	FILE *file = fopen(path, "w");
	struct tp_sink *sink = tp_text_sink(file);
	tp_enable(sink, "*");
	pthread_create(&thread, NULL, own_lines, file);
	for (int i = 0; i < NR_OWN; i++)
		trace_sample_text("other");
	pthread_join(thread, NULL);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	fclose(file);
	char *log = read_file(path);
	ck_assert_uint_eq(count_of(log, "text=other\n"), NR_OWN);
	ck_assert_uint_eq(count_of(log, "\nend\n"), NR_OWN); /* nothing came in between */
	ck_assert_uint_eq(count_of(log, "\n"), 3 * NR_OWN);
	free(log);
}
END_TEST

/* ---- Signals ---- */

static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
	(void)signal;
	trace_sample_text("from the handler");
	handled++;
}

START_TEST(signals_in_the_sink)
{
	char path[128];
	struct itimerval often = {.it_interval = {.tv_usec = 100}, .it_value = {.tv_usec = 100}}, never = {.it_value = {0}};
	unsigned int n = 0;

	snprintf(path, sizeof(path), "%s/log", temp_dir());
	FILE *file = fopen(path, "w");
	struct tp_sink *sink = tp_text_sink(file);
	tp_enable(sink, "*");
	signal(SIGALRM, on_alarm);
	capture_stderr();
	setitimer(ITIMER_REAL, &often, NULL);
	for (; handled < 2000; n++)
		trace_sample_int((int)n);
	setitimer(ITIMER_REAL, &never, NULL);
	unsigned long lost = tp_sink_lost(sink);
	ck_assert_uint_gt(lost, 0); /* or nothing was tested */
	tp_sink_close(sink);
	fclose(file);
	char *messages = captured_stderr(), expected[80];
	snprintf(expected, sizeof(expected), "tp: text sink: records lost: %lu\n", lost);
	ck_assert_str_eq(messages, expected);
	free(messages);

	/* Nothing is torn, and all is counted. */
	char *log = read_file(path);
	ck_assert_uint_eq(count_of(log, "value="), n);
	ck_assert_uint_eq(count_of(log, "text=from the handler\n") + lost, (unsigned long)handled);
	ck_assert_uint_eq(count_of(log, "\n"), n + (unsigned long)handled - lost);
	free(log);
}
END_TEST

/* ---- Forks ---- */

START_TEST(fork_writes_nothing_twice)
{
	char path[128], pids[64];

	snprintf(path, sizeof(path), "%s/log", temp_dir());
	FILE *file = fopen(path, "w"); /* with a big buffer, which fork copies */
	struct tp_sink *sink = tp_text_sink(file);
	tp_enable(sink, "*");
	trace_sample_text("before");
	pid_t child = fork();
	if (child == 0) {
		trace_sample_text("child");
		_exit(tp_sink_close(sink) == 0 ? 0 : 1);
	}
	int status;
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	trace_sample_text("parent");
	tp_sink_close(sink);
	fclose(file);
	char *log = read_file(path);
	ck_assert_uint_eq(count_of(log, "before"), 1);
	ck_assert_uint_eq(count_of(log, "child"), 1);
	ck_assert_uint_eq(count_of(log, "parent"), 1);
	snprintf(pids, sizeof(pids), " %d/%d sample:sample_text: text=child", child, child);
	ck_assert_contains(log, pids); /* not the parent's, which were cached */
	free(log);
}
END_TEST

static FILE *forked_file;
static bool locked;

/* The first tracepoint of this thread's life: it registers, for which it waits for the fork. */
static void *hold_the_file(void *unused)
{
	(void)unused;
	flockfile(forked_file);
	fputs("own, ", forked_file);
	__atomic_store_n(&locked, true, __ATOMIC_RELEASE);
	usleep(50000);
	trace_sample_text("after the fork");
	funlockfile(forked_file);
	return NULL;
}

START_TEST(fork_while_the_file_is_locked)
{
	char path[128];
	pthread_t thread;
	int status;

	snprintf(path, sizeof(path), "%s/log", temp_dir());
	forked_file = fopen(path, "w");
	struct tp_sink *sink = tp_text_sink(forked_file);
	tp_enable(sink, "*");
	trace_sample_text("before");
	pthread_create(&thread, NULL, hold_the_file, NULL);
	while (!__atomic_load_n(&locked, __ATOMIC_ACQUIRE))
		;
	pid_t child = fork();
	if (child == 0) {
		trace_sample_text("child");
		_exit(tp_sink_close(sink) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	fclose(forked_file);
	char *log = read_file(path);
	ck_assert_uint_eq(count_of(log, "text=before\n"), 1);
	ck_assert_uint_eq(count_of(log, "text=child\n"), 1);
	ck_assert_uint_eq(count_of(log, "own, "), 1);
	ck_assert_uint_eq(count_of(log, "text=after the fork\n"), 1);
	free(log);
}
END_TEST

static bool stop;

static void *hammer(void *unused)
{
	(void)unused;
	for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++)
		trace_sample_int(i);
	return NULL;
}

static void *change(void *sink)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		tp_disable(sink, "sample_int");
		tp_enable(sink, "sample_int");
		tracepoint_synchronize_unregister();
	}
	return NULL;
}

START_TEST(forks_among_busy_threads)
{
	pthread_t threads[3];
	FILE *file = fopen("/dev/null", "w");
	struct tp_sink *sink = tp_text_sink(file);
	int rounds = under_sanitizer() ? 10 : 50;

	tp_enable(sink, "*");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, hammer, NULL);
	pthread_create(&threads[2], NULL, change, sink);
	for (int i = 0; i < rounds; i++) {
		pid_t child = fork();
		if (child == 0) {
			/* All that could hang, had somebody held a lock. */
			alarm(10);
			tp_enable(sink, "*");
			trace_sample_int(1);
			tracepoint_synchronize_unregister();
			_exit(tp_sink_close(sink) == 0 ? 0 : 1);
		}
		int status;
		waitpid(child, &status, 0);
		ck_assert_int_eq(status, 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	tp_sink_close(sink);
	fclose(file);
}
END_TEST

/* ---- The ends of threads ---- */

static pthread_key_t late_key;

static void late_destructor(void *rounds)
{
	trace_sample_text("late");
	if ((uintptr_t)rounds > 1)
		pthread_setspecific(late_key, (void *)((uintptr_t)rounds - 1));
}

static void *short_thread(void *unused)
{
	(void)unused;
	trace_sample_text("early");
	pthread_setspecific(late_key, (void *)(uintptr_t)10); /* more rounds than there are */
	return NULL;
}

START_TEST(tracepoints_in_a_threads_last_destructors)
{
	FILE *file;
	struct tp_sink *sink = open_memory(&file);

	pthread_key_create(&late_key, late_destructor);
	for (int i = 0; i < 10; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, short_thread, NULL);
		pthread_join(thread, NULL);
	}
	unsigned long lost = tp_sink_lost(sink);
	capture_stderr();
	tp_sink_close(sink);
	free(captured_stderr());
	fclose(file);
	ck_assert_uint_eq(count_of(text, "early"), 10);
	ck_assert_uint_ge(count_of(text, "late"), 30);
	ck_assert_uint_eq(count_of(text, "late") + lost, 40);
}
END_TEST

static bool cancelled;

static void *recording(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&cancelled, __ATOMIC_ACQUIRE))
		;
	/* A write is a cancellation point, but not the sink's. */
	for (int i = 0; i < 1000; i++)
		trace_sample_int(i);
	pthread_testcancel();
	return NULL;
}

START_TEST(cancelled_threads_hold_nothing)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/log", temp_dir());
	FILE *file = fopen(path, "w");
	struct tp_sink *sink = tp_text_sink(file);

	setvbuf(file, NULL, _IONBF, 0);
	tp_enable(sink, "*");
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		void *result;
		cancelled = false;
		pthread_create(&thread, NULL, recording, NULL);
		pthread_cancel(thread);
		__atomic_store_n(&cancelled, true, __ATOMIC_RELEASE);
		pthread_join(thread, &result);
		ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	}
	ck_assert_int_eq(tp_sink_close(sink), 0);
	fclose(file);
	char *log = read_file(path);
	ck_assert_uint_eq(count_of(log, "value=999\n"), 20);
	free(log);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text sink");
	TCase *lines = tcase_create("lines");
	TCase *trouble = tcase_create("trouble");

	tcase_add_test(lines, nothing_to_write_to);
	tcase_add_test(lines, what_a_line_says);
	tcase_add_test(lines, a_line_stays_a_line);
	tcase_add_test(lines, every_byte_at_every_place);
	tcase_add_test(lines, long_text);
	tcase_add_test(lines, errno_is_kept);
	suite_add_tcase(suite, lines);
	tcase_set_timeout(trouble, 60);
	tcase_add_test(trouble, full_disk);
	tcase_add_test(trouble, full_disk_seen_at_the_end);
	tcase_add_test(trouble, reader_gone);
	tcase_add_loop_test(trouble, limit_on_file_sizes, 0, 3);
	tcase_add_test(trouble, whole_lines_from_many_threads);
	tcase_add_test(trouble, program_locks_the_file);
	tcase_add_test(trouble, signals_in_the_sink);
	tcase_add_test(trouble, fork_writes_nothing_twice);
	tcase_add_test(trouble, fork_while_the_file_is_locked);
	tcase_add_test(trouble, forks_among_busy_threads);
	if (!under_thread_sanitizer())
		tcase_add_test(trouble, tracepoints_in_a_threads_last_destructors);
	tcase_add_test(trouble, cancelled_threads_hold_nothing);
	suite_add_tcase(suite, trouble);
	return run(suite);
}
