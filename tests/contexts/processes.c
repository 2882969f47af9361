/* SPDX-License-Identifier: MIT */
/* processes.c - lessons of fork. */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lessons.h"

static bool stop;

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void nothing(void *data, unsigned long n)
{
	(void)data;
	(void)n;
}

/* A child that hangs is killed by its alarm. */
static pid_t fork_child(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0)
		alarm(600);
	return pid;
}

static void await(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(status == 0);
}

/* ---- While other threads are in whatever takes a lock ---- */

static void *go_on_registering(void *data)
{
	while (!stopped()) {
		register_trace_lessons_bare(nothing, data);
		unregister_trace_lessons_bare(nothing, data);
	}
	return NULL;
}

static void *go_on_waiting(void *unused)
{
	while (!stopped())
		tracepoint_synchronize_unregister();
	return unused;
}

static void use_a_sink(void)
{
	FILE *file = fopen("/dev/null", "w");
	struct tp_sink *sink = tp_text_sink(file);

	CHECK(tp_enable(sink, "lessons_hit") == 1);
	trace_lessons_hit(1);
	CHECK(tp_disable(sink, "lessons_hit") == 1);
	CHECK(tp_sink_close(sink) == 0);
	fclose(file);
}

static void *go_on_opening(void *unused)
{
	while (!stopped())
		use_a_sink();
	return unused;
}

static void *hit_first(void *unused)
{
	trace_lessons_bare(1);
	trace_lessons_hit(1);
	return unused;
}

static void *go_on_starting_threads(void *unused)
{
	while (!stopped()) {
		pthread_t thread;
		pthread_create(&thread, NULL, hit_first, NULL);
		pthread_join(thread, NULL);
	}
	return unused;
}

static void look(struct tracepoint *tp, void *unused)
{
	struct tp_tracepoint_info info;

	(void)unused;
	tp_get_tracepoint_info(tp, &info);
	CHECK(info.module);
}

static void *look_at_all(void *unused)
{
	while (!stopped())
		tp_for_each_tracepoint(look, NULL);
	return unused;
}

void lesson_fork_with_locks(void)
{
	static void *(*const jobs[])(void *) = {go_on_registering, go_on_waiting, go_on_opening, go_on_starting_threads,
						look_at_all};
	enum { NR = sizeof(jobs) / sizeof(jobs[0]) };
	pthread_t threads[NR];

	for (int i = 0; i < NR; i++)
		pthread_create(&threads[i], NULL, jobs[i], NULL);
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork_child();
		if (pid == 0) {
			use_a_sink();
			all_that_there_is(true);
			tp_for_each_tracepoint(look, NULL);
			if (i % 2)
				exit(0);
			_exit(0);
		}
		await(pid);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR; i++)
		pthread_join(threads[i], NULL);
}

/* ---- While other threads are in what takes a lock of libc's, which no fork takes ---- */

static void at_exit(void)
{
}

static void *go_on_registering_exits(void *unused)
{
	for (int i = 0; i < 1000000 && !stopped(); i++)
		atexit(at_exit);
	return unused;
}

static void *go_on_asking_for_places(void *unused)
{
	const time_t now = time(NULL);
	struct tm tm;

	while (!stopped()) {
		localtime_r(&now, &tm);
		setlocale(LC_ALL, "C");
	}
	return unused;
}

/* A child that has never registered before, and one that writes statistics. */
void lesson_fork_with_locks_of_libc(void)
{
	static void *(*const jobs[])(void *) = {go_on_registering_exits, go_on_asking_for_places};
	enum { NR = sizeof(jobs) / sizeof(jobs[0]) };
	char path[] = "/tmp/tp-lessons-XXXXXX";
	pthread_t threads[NR];
	int fd = mkstemp(path);

	CHECK(fd >= 0 && close(fd) == 0);
	struct tp_sink *sink = tp_stats_sink(path, "interval=0");
	CHECK(sink && tp_enable(sink, "lessons_hit") == 1);
	for (int i = 0; i < NR; i++)
		pthread_create(&threads[i], NULL, jobs[i], NULL);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork_child();
		if (pid == 0) {
			char of_child[sizeof(path) + 20];
			trace_lessons_hit(1);
			all_that_there_is(true);
			CHECK(tp_stats_write(sink) == 0);
			snprintf(of_child, sizeof(of_child), "%s.%d", path, (int)getpid());
			CHECK(unlink(of_child) == 0);
			_exit(0);
		}
		await(pid);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR; i++)
		pthread_join(threads[i], NULL);
	CHECK(tp_sink_close(sink) == 0);
	unlink(path);
}

/* ---- What was cached before ---- */

static FILE *log_file;

/* The last line of the sink says who has hit. */
static void *expect_own_ids(void *pid)
{
	char line[200] = "", last[200] = "", expected[60];

	trace_lessons_hit(1);
	fflush(log_file);
	rewind(log_file);
	while (fgets(line, sizeof(line), log_file))
		strcpy(last, line);
	snprintf(expected, sizeof(expected), " %d/%d lessons:lessons_hit: n=1\n", *(pid_t *)pid, gettid());
	CHECK(strstr(last, expected));
	return NULL;
}

static void expect_own_ids_in_threads(void)
{
	pid_t pid = getpid();
	pthread_t thread;

	expect_own_ids(&pid);
	pthread_create(&thread, NULL, expect_own_ids, &pid);
	pthread_join(thread, NULL);
	expect_own_ids(&pid);
}

void lesson_fork_is_fresh(void)
{
	log_file = tmpfile();
	CHECK(tp_enable(tp_text_sink(log_file), "lessons_hit") == 1);
	expect_own_ids_in_threads();
	fflush(log_file);
	pid_t child = fork_child();
	if (child == 0) {
		expect_own_ids_in_threads();
		pid_t grandchild = fork_child();
		if (grandchild == 0) {
			expect_own_ids_in_threads();
			_exit(0);
		}
		await(grandchild);
		expect_own_ids_in_threads();
		_exit(0);
	}
	await(child);
	expect_own_ids_in_threads();
}

/* ---- Readers of the parent's other threads ---- */

static int sitting;

static void sit(void *data, unsigned long n)
{
	(void)data;
	(void)n;
	__atomic_fetch_add(&sitting, 1, __ATOMIC_RELEASE);
	while (!stopped())
		usleep(100);
}

static void *hit_bare(void *unused)
{
	trace_lessons_bare(1);
	return unused;
}

void lesson_fork_among_readers(void)
{
	pthread_t threads[3];

	CHECK(register_trace_lessons_bare(sit, NULL) == 0);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, hit_bare, NULL);
	while (__atomic_load_n(&sitting, __ATOMIC_ACQUIRE) < 3)
		usleep(100);
	pid_t pid = fork_child();
	if (pid == 0) {
		CHECK(unregister_trace_lessons_bare(sit, NULL) == 0);
		CHECK(tracepoint_synchronize_unregister() == 0);
		all_that_there_is(true);
		exit(0);
	}
	await(pid);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	CHECK(unregister_trace_lessons_bare(sit, NULL) == 0);
	all_that_there_is(true);
}

/* ---- Inside a probe ---- */

static pid_t forked = -1;
static bool in_probe, waiting;

static void count(void *calls, unsigned long n)
{
	*(unsigned long *)calls += n;
}

static void fork_here(void *data, unsigned long n)
{
	bool *wanted = data;

	(void)n;
	if (!*wanted)
		return;
	*wanted = false;
	__atomic_store_n(&in_probe, true, __ATOMIC_RELEASE);
	while (waiting && !stopped())
		usleep(100);
	forked = fork_child();
}

void lesson_fork_in_a_probe(void)
{
	bool wanted = true;
	unsigned long calls = 0;

	CHECK(register_trace_lessons_bare(fork_here, &wanted) == 0);
	CHECK(register_trace_lessons_bare(count, &calls) == 0);
	trace_lessons_bare(1); /* both processes come back */
	CHECK(calls == 1);
	trace_lessons_bare(1);
	CHECK(calls == 2);
	CHECK(unregister_trace_lessons_bare(fork_here, &wanted) == 0);
	CHECK(tracepoint_synchronize_unregister() == 0);
	CHECK(unregister_trace_lessons_bare(count, &calls) == 0);
	all_that_there_is(true);
	if (forked != 0)
		await(forked);
}

static bool in_grace_period, synchronized;
static __thread bool is_waiter;

/* By which liburcu naps while there are readers. */
int poll(struct pollfd *files, nfds_t nr, int ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	if (is_waiter)
		__atomic_store_n(&in_grace_period, true, __ATOMIC_RELEASE);
	return ppoll(files, nr, ms < 0 ? NULL : &time, NULL);
}

static void *wait_for_it(void *unused)
{
	while (!__atomic_load_n(&in_probe, __ATOMIC_ACQUIRE))
		usleep(100);
	is_waiter = true;
	CHECK(tracepoint_synchronize_unregister() == 0);
	__atomic_store_n(&synchronized, true, __ATOMIC_RELEASE);
	return unused;
}

static void *let_it_go(void *unused)
{
	while (!__atomic_load_n(&in_grace_period, __ATOMIC_ACQUIRE) && !__atomic_load_n(&synchronized, __ATOMIC_ACQUIRE))
		usleep(100);
	CHECK(!__atomic_load_n(&synchronized, __ATOMIC_ACQUIRE));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	return unused;
}

/* What is left of the child works, but for tracing. */
static void live_in_the_dark(unsigned long *calls)
{
	unsigned long before = *calls;
	FILE *file = fopen("/dev/null", "w");
	struct tp_sink *sink = tp_text_sink(file);

	CHECK(!trace_lessons_bare_enabled());
	trace_lessons_bare(1);
	trace_lessons_hit(1);
	CHECK(*calls == before);
	CHECK(register_trace_lessons_bare(count, &before) == -EDEADLK);
	CHECK(unregister_trace_lessons_bare(count, calls) == 0);
	CHECK(unregister_trace_lessons_bare(count, calls) == -ENOENT);
	CHECK(tracepoint_synchronize_unregister() == 0);
	if (sink) {
		tp_enable(sink, "*");
		tp_sink_close(sink);
	}
	pid_t pid = fork_child();
	if (pid == 0) {
		CHECK(register_trace_lessons_bare(count, &before) == -EDEADLK);
		exit(0);
	}
	await(pid);
	exit(0);
}

void lesson_fork_in_a_probe_that_is_waited_for(void)
{
	bool wanted = true;
	unsigned long calls = 0;
	pthread_t threads[2];

	waiting = true;
	CHECK(register_trace_lessons_bare(fork_here, &wanted) == 0);
	CHECK(register_trace_lessons_bare(count, &calls) == 0);
	pthread_create(&threads[0], NULL, wait_for_it, NULL);
	pthread_create(&threads[1], NULL, let_it_go, NULL);
	trace_lessons_bare(1);
	if (forked == 0)
		live_in_the_dark(&calls);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK(calls == 1);
	all_that_there_is(true);
	await(forked);
}
