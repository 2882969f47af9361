/* SPDX-License-Identifier: MIT */
/*
 * test_ctf_threads.c - the CTF sink among threads and forks, as babeltrace2 reads what it writes. Sudden death, storms, and
 * traces that are read while they are written are in tests/ctf.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf_fixture.h"
#include "sample.h"
#include "util.h"

/* ---- Threads ---- */

#define NR_THREADS 8
#define PER_THREAD 5000

static void *recorder(void *number)
{
	for (int i = 0; i < PER_THREAD; i++)
		trace_sample_int((int)(uintptr_t)number * PER_THREAD + i);
	return NULL;
}

FIXTURE(setup, NULL)

TEST(many_threads_two_sinks)
{
	pthread_t threads[NR_THREADS];
	char second[256];
	static unsigned char seen[NR_THREADS * PER_THREAD];

	snprintf(second, sizeof(second), "%s-2", trace);
	struct tp_sink *one = open_sink("packet=16K");
	struct tp_sink *two = tp_ctf_sink(second, NULL);
	tp_enable(two, "*");
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, recorder, (void *)i);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(tp_sink_close(one), 0);
	ck_assert_int_eq(tp_sink_close(two), 0);
	for (int i = 0; i < 2; i++) {
		char *text = clean_babeltrace(i ? second : trace);
		const char *at = text;
		memset(seen, 0, sizeof(seen));
		while ((at = find(at, "value = "))) {
			at += strlen("value = ");
			seen[strtol(at, NULL, 10)]++;
		}
		for (size_t j = 0; j < sizeof(seen); j++)
			ck_assert_uint_eq(seen[j], 1);
		free(text);
	}
}

static void *one_hit(void *number)
{
	trace_sample_int((int)(uintptr_t)number);
	return NULL;
}

TEST(thousands_of_short_threads)
{
	enum { NR = 3000, AT_ONCE = 4 };
	pthread_t threads[AT_ONCE];
	struct tp_sink *sink = open_sink(NULL);

	for (uintptr_t i = 0; i < NR; i += AT_ONCE) {
		for (uintptr_t j = 0; j < AT_ONCE; j++)
			pthread_create(&threads[j], NULL, one_hit, (void *)(i + j));
		for (int j = 0; j < AT_ONCE; j++)
			pthread_join(threads[j], NULL);
	}
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	tp_sink_close(sink);
	ck_assert_uint_le(count_files(trace, "stream-"), 2 * AT_ONCE);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = "), NR);
	free(text);
}

static pthread_key_t late_key;

static void late_destructor(void *rounds)
{
	trace_sample_int(2);
	if ((uintptr_t)rounds > 1)
		pthread_setspecific(late_key, (void *)((uintptr_t)rounds - 1));
}

static void *late_thread(void *unused)
{
	(void)unused;
	trace_sample_int(1);
	pthread_setspecific(late_key, (void *)(uintptr_t)10);
	return NULL;
}

LOOP_TEST(tracepoints_in_a_threads_last_destructors, !under_thread_sanitizer())
{
	struct tp_sink *sink = open_sink(NULL);

	pthread_key_create(&late_key, late_destructor);
	for (int i = 0; i < 100; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, late_thread, NULL);
		pthread_join(thread, NULL);
	}
	unsigned long lost = tp_sink_lost(sink);
	capture_stderr();
	tp_sink_close(sink);
	free(captured_stderr());
	ck_assert_uint_le(count_files(trace, "stream-"), 2); /* no stream is left behind */
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = 1 "), 100);
	ck_assert_uint_eq(count_of(text, "value = 2 ") + lost, 400);
	free(text);
}

/* pthread_exit() in a probe: the record is never complete. */
static void *exits_in_a_record(void *sink)
{
	struct tp_record rec;

	ck_assert_ptr_nonnull(tp_reserve(&rec, sink, &tp_event_sample_int, 12));
	return NULL;
}

TEST(thread_that_exits_in_a_record)
{
	struct tp_sink *sink = open_sink(NULL);
	pthread_t thread;

	pthread_create(&thread, NULL, exits_in_a_record, sink);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, one_hit, (void *)7);
	pthread_join(thread, NULL);
	tp_sink_close(sink);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = "), 1);
	ck_assert_contains(text, "value = 7 ");
	free(text);
}

static bool stop;

/* Slow, so that it does not fill the disk while a test waits. */
static void *slow_hammer(void *unused)
{
	(void)unused;
	for (int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		trace_sample_int(i);
		if (i % 50 == 0)
			usleep(1000);
	}
	return NULL;
}

TEST(sinks_come_and_go_under_living_threads)
{
	pthread_t threads[3];
	char path[256];
	int rounds = under_sanitizer() ? 10 : 40;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, slow_hammer, NULL);
	for (int i = 0; i < rounds; i++) {
		snprintf(path, sizeof(path), "%s-%d", trace, i);
		struct tp_sink *sink = tp_ctf_sink(path, "packet=64K");
		ck_assert_ptr_nonnull(sink);
		tp_enable(sink, "sample_int");
		usleep(1000);
		ck_assert_int_eq(tp_sink_close(sink), 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < rounds; i += rounds / 5) {
		snprintf(path, sizeof(path), "%s-%d", trace, i);
		free(clean_babeltrace(path));
	}
}

/* ---- Forks ---- */

TEST(forked_children_go_on)
{
	char needle[64];
	pid_t children[5];
	struct tp_sink *sink = open_sink("packet=8K");

	for (int i = 0; i < 500; i++)
		trace_sample_int(0);
	for (int c = 0; c < 5; c++) {
		children[c] = fork();
		if (children[c] == 0) {
			for (int i = 0; i < 500; i++)
				trace_sample_int(c + 1);
			if (c % 2)
				_exit(tp_sink_close(sink) == 0 ? 0 : 1);
			raise(SIGKILL);
		}
		trace_sample_int(0);
	}
	for (int c = 0; c < 5; c++)
		waitpid(children[c], NULL, 0);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = 0 "), 505);
	for (int c = 0; c < 5; c++) {
		snprintf(needle, sizeof(needle), "{ tid = %d }, { value = %d }", children[c], c + 1);
		ck_assert_uint_eq(count_of(text, needle), 500);
	}
	free(text);
}

TEST(child_of_a_dead_process_with_its_id)
{
	/* The first packet's name is taken, as if an earlier process had had this id. */
	struct tp_sink *sink = open_sink("packet=8K");
	char path[256];

	snprintf(path, sizeof(path), "%s/stream-%d-0-0", trace, getpid());
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	close(fd);
	trace_sample_int(1);
	tp_sink_close(sink);
	unlink(path);
	ck_assert_uint_eq(count_files(trace, "stream-"), 1);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = 1"), 1);
	free(text);
}

TEST(child_that_loads_modules)
{
	static struct sample_module m;
	struct tp_sink *sink = open_sink(NULL);

	trace_sample_int(1);
	pid_t child = fork();
	if (child == 0) {
		capture_stderr();
		sample_module_init(&m, "sample", "later", "int");
		tp_module_load(&m.module);
		trace_sample_int(2);
		sample_module_hit(&m, 3);
		sample_module_hit(&m, 4);
		unsigned long lost = tp_sink_lost(sink);
		char *messages = captured_stderr();
		_exit(lost == 2 && strstr(messages, "'sample:later'") && count_of(messages, "\n") == 1 ? 0 : 1);
	}
	int status;
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	tp_sink_close(sink);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = "), 2);
	free(text);
}

TEST(fork_in_the_middle_of_a_record)
{
	struct tp_sink *sink = open_sink(NULL);
	struct tp_record rec;
	int status;

	trace_sample_int(1);
	int *entry = tp_reserve(&rec, sink, &tp_event_sample_int, 12);
	entry[2] = 2;
	pid_t child = fork();
	if (child == 0) {
		entry[2] = 99; /* must not reach the parent's packet */
		tp_commit(&rec);
		trace_sample_int(3);
		tp_sink_close(sink);
		_exit(0);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	tp_commit(&rec);
	tp_sink_close(sink);
	char *text = clean_babeltrace(trace);
	ck_assert_lacks(text, "value = 99");
	ck_assert_uint_eq(count_of(text, "value = 2 "), 1);
	ck_assert_uint_eq(count_of(text, "value = 3 "), 1);
	free(text);
}
