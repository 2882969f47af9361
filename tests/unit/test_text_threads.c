/* SPDX-License-Identifier: MIT */
/* test_text_threads.c - the text sink when threads, signals and forks come in between. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sample.h"
#include "util.h"

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

TEST(whole_lines_from_many_threads)
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
TEST(program_locks_the_file)
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

/* ---- Signals ---- */

static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
	(void)signal;
	trace_sample_text("from the handler");
	handled++;
}

TEST(signals_in_the_sink)
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
	char *messages = captured_stderr(), expected[128];
	snprintf(expected, sizeof(expected), "tp: text output: records lost: %lu (nested: %lu)\n", lost, lost);
	ck_assert_str_eq(messages, expected);
	free(messages);

	/* Nothing is torn, and all is counted. */
	char *log = read_file(path);
	ck_assert_uint_eq(count_of(log, "value="), n);
	ck_assert_uint_eq(count_of(log, "text=from the handler\n") + lost, (unsigned long)handled);
	ck_assert_uint_eq(count_of(log, "\n"), n + (unsigned long)handled - lost);
	free(log);
}

/* ---- Forks ---- */

TEST(fork_writes_nothing_twice)
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

TEST(fork_while_the_file_is_locked)
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

TEST(forks_among_busy_threads)
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
			alarm(600);
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

LOOP_TEST(tracepoints_in_a_threads_last_destructors, !under_thread_sanitizer())
{
	char *text;
	size_t text_size;
	FILE *file = open_memstream(&text, &text_size);
	struct tp_sink *sink = tp_text_sink(file);

	ck_assert_int_ge(tp_enable(sink, "*"), 3);
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
	free(text);
}

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

TEST(cancelled_threads_hold_nothing)
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
