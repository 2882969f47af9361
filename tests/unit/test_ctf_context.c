/* SPDX-License-Identifier: MIT */
/*
 * test_ctf_context.c - what context= adds to each event, as babeltrace2 shows it.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf_fixture.h"
#include "ctf_packets.h"
#include "base/thread.h"
#include "sample.h"
#include "util.h"

#define ALL "context=cpu+pid+name"

/* One that it may run on, and does from here on. */
static int pin_to_a_cpu(void)
{
	cpu_set_t set;
	size_t last = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set))
			last = cpu;
	}
	CPU_ZERO(&set);
	CPU_SET(last, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	return (int)last;
}

/* The line with the value. The caller frees it. */
static char *line_of(const char *text, int value)
{
	char needle[32];

	snprintf(needle, sizeof(needle), "{ value = %d }", value);
	const char *at = find(text, needle);
	ck_assert_msg(at != NULL, "%s is missing: %.2000s", needle, text);
	const char *begin = at;
	while (begin > text && begin[-1] != '\n')
		begin--;
	return strndup(begin, strcspn(begin, "\n"));
}

/* What stands between the event's name and its fields. */
static void has_context(const char *text, int value, int cpu, int pid, const char *name, int tid)
{
	char *line = line_of(text, value), expected[256] = " sample:sample_int: { ";
	size_t len = strlen(expected);

	if (cpu >= 0)
		len += (size_t)snprintf(expected + len, sizeof(expected) - len, "cpu_id = %d, ", cpu);
	if (pid)
		len += (size_t)snprintf(expected + len, sizeof(expected) - len, "pid = %d, ", pid);
	if (name)
		snprintf(expected + len, sizeof(expected) - len, "procname = \"%s\", ", name);
	ck_assert_contains(line, expected);
	snprintf(expected, sizeof(expected), " tid = %d }, { value = %d }", tid, value);
	ck_assert_contains(line, expected);
	ck_assert_int_eq(strstr(line, "cpu_id") != NULL, cpu >= 0);
	ck_assert_int_eq(strstr(line, " pid") != NULL, pid != 0);
	ck_assert_int_eq(strstr(line, "procname") != NULL, name != NULL);
	free(line);
}

static const char *const combinations[] = {
	"context=cpu", "context=pid", "context=pid+cpu", "context=name", "context=name+cpu", "context=pid+name",
	"packet=4K," ALL, "mode=flight," ALL,
};

FIXTURE(setup, NULL)

LOOP_TEST(each_combination, NR_OF(combinations))
{
	const char *options = combinations[_i];
	const int cpu = strstr(options, "cpu") ? pin_to_a_cpu() : -1;
	const int pid = strstr(options, "pid") ? getpid() : 0;

	prctl(PR_SET_NAME, "the main thread");
	struct tp_sink *sink = open_sink(options);
	for (int i = 0; i < 100; i++)
		trace_sample_int(i);
	trace_sample_text("with a text");
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = clean_babeltrace(trace);
	for (int i = 0; i < 100; i++)
		has_context(text, i, cpu, pid, strstr(options, "name") ? "the main thread" : NULL, tp_thread_id());
	ck_assert_contains(text, "text = \"with a text\"");
	free(text);
}

/* ---- Room ---- */

TEST(longest_in_a_packet)
{
	struct tp_sink *sink = open_sink("packet=4K," ALL);
	char string[4096];
	size_t longest = 0;

	memset(string, 'x', sizeof(string));
	/* The longest that is taken. Its end is that of the packet, but for the alignment of nothing. */
	capture_stderr();
	for (size_t len = 4095; len > 3000 && !longest; len--) {
		unsigned long lost = tp_sink_lost_by(sink, TP_LOST_TOO_LARGE);
		string[len] = '\0';
		trace_sample_text(string);
		if (tp_sink_lost_by(sink, TP_LOST_TOO_LARGE) == lost)
			longest = len;
	}
	trace_sample_int(1);
	ck_assert_uint_eq(tp_sink_lost(sink), 4095 - longest);
	tp_sink_close(sink);
	free(captured_stderr());
	ck_assert_uint_gt(longest, 4096 - 64 - 8 - 48 - 12 - 1);
	char *text = clean_babeltrace(trace);
	string[longest] = '\0';
	ck_assert_ptr_nonnull(find(text, string));
	ck_assert_contains(text, "value = 1 ");
	free(text);
}

/* By another clock, another way takes the record. */
AGAIN(setup_monotonic, NULL)

FIXTURE(setup, NULL)

/* ---- Threads, handlers, children ---- */

static struct tp_sink *the_sink;

static void on_signal(int signal)
{
	(void)signal;
	trace_sample_int(-1);
	trace_sample_text("from the handler");
}

static void *named_thread(void *number)
{
	const int n = (int)(uintptr_t)number;
	struct tp_record rec;
	char name[16];

	snprintf(name, sizeof(name), "worker %d", n);
	pthread_setname_np(pthread_self(), name);
	trace_sample_int(1000 * n);
	raise(SIGUSR1);
	int *entry = tp_reserve(&rec, the_sink, &tp_event_sample_int, 12);
	entry[2] = 1000 * n + 1;
	raise(SIGUSR1); /* inside the record */
	trace_sample_int(1000 * n + 2);
	tp_commit(&rec);
	raise(SIGUSR1);
	trace_sample_int(1000 * n + 3);
	return (void *)(intptr_t)tp_thread_id();
}

LOOP_TEST(threads_with_names_and_handlers, 2)
{
	enum { NR = 6 };
	pthread_t threads[NR];
	char name[16], needle[128];
	void *tids[NR];
	int cpu = pin_to_a_cpu();

	signal(SIGUSR1, on_signal);
	the_sink = open_sink(_i ? "mode=flight," ALL : ALL);
	for (uintptr_t i = 0; i < NR; i++) {
		pthread_create(&threads[i], NULL, named_thread, (void *)(i + 1));
		if (i % 2) /* the next one takes its stream */
			pthread_join(threads[i], &tids[i]);
	}
	for (int i = 0; i < NR; i += 2)
		pthread_join(threads[i], &tids[i]);
	ck_assert_uint_eq(tp_sink_lost(the_sink), 0);
	tp_sink_close(the_sink);
	char *text = clean_babeltrace(trace);
	for (int i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "worker %d", i + 1);
		for (int j = 0; j < 4; j++)
			has_context(text, 1000 * (i + 1) + j, cpu, getpid(), name, (int)(intptr_t)tids[i]);
		snprintf(needle, sizeof(needle), "sample:sample_text: { cpu_id = %d, pid = %d, procname = \"%s\", ", cpu, getpid(),
			 name);
		ck_assert_uint_eq(count_of(text, needle), 3);
	}
	free(text);
}

/* As it was when the packet was begun: asking for each event would cost a system call. */
TEST(a_new_name)
{
	struct tp_sink *sink = open_sink("packet=4K,context=name");

	prctl(PR_SET_NAME, "first");
	trace_sample_int(0);
	prctl(PR_SET_NAME, "second name is long"); /* the system cuts it */
	for (int i = 1; i < 300; i++)
		trace_sample_int(i);
	tp_sink_close(sink);
	char *text = clean_babeltrace(trace);
	has_context(text, 0, -1, 0, "first", tp_thread_id());
	has_context(text, 299, -1, 0, "second name is ", tp_thread_id());
	free(text);
}

TEST(forked_children)
{
	struct tp_sink *sink = open_sink("context=pid+name");
	pid_t children[3];

	prctl(PR_SET_NAME, "parent");
	trace_sample_int(0);
	for (int c = 0; c < 3; c++) {
		children[c] = fork();
		if (children[c] == 0) {
			prctl(PR_SET_NAME, "child");
			trace_sample_int(c + 1);
			if (c)
				raise(SIGKILL);
			_exit(0);
		}
		waitpid(children[c], NULL, 0);
	}
	trace_sample_int(9);
	tp_sink_close(sink);
	char *text = clean_babeltrace(trace);
	has_context(text, 0, -1, getpid(), "parent", getpid());
	has_context(text, 9, -1, getpid(), "parent", getpid());
	for (int c = 0; c < 3; c++)
		has_context(text, c + 1, -1, children[c], "child", children[c]);
	free(text);
}

static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
	(void)signal;
	trace_sample_text("from the handler");
	handled++;
}

TEST(signal_storm)
{
	struct itimerval often = {.it_interval = {.tv_usec = 50}, .it_value = {.tv_usec = 50}}, never = {.it_value = {0}};
	struct tp_sink *sink = open_sink("packet=4K," ALL);
	int n = 0;

	prctl(PR_SET_NAME, "in the storm");
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 300)
		trace_sample_int(n++);
	setitimer(ITIMER_REAL, &never, NULL);
	unsigned long lost = tp_sink_lost(sink);
	char *text = close_and_read(sink);
	unsigned long all = (unsigned long)n + (unsigned long)handled;
	ck_assert_uint_eq(count_of(text, "value = ") + count_of(text, "text = ") + lost, all);
	ck_assert_uint_eq(count_of(text, "procname = \"in the storm\"") + lost, all);
	free(text);
}

