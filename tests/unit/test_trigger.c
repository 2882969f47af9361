/* SPDX-License-Identifier: MIT */
/* test_trigger.c - triggers and modules, memory, probes, sinks that close. tests/triggers/ has what they do. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/text.h"
#include "ctf_fixture.h"
#include "describe.h"
#include "events/events.h"
#include "list_sink.h"
#include "record/record.h"
#include "sample.h"
#include "triggers/triggers.h"
#include "util.h"

static struct list_sink s;

static void open_it(void)
{
	open_list_sink(&s);
	tp_enable(&s.head, "sample_int");
}

static void close_it(void)
{
	tp_sink_close(&s.head);
}

static void count(uint64_t serial, const char *patterns, const char *text, void *data)
{
	(void)serial;
	(void)patterns;
	(void)text;
	++*(unsigned int *)data;
}

static unsigned int nr_triggers(void)
{
	unsigned int nr = 0;

	tp_triggers_each(count, &nr);
	return nr;
}

/* ---- The list ---- */

static void *list_triggers(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_ACQUIRE))
		nr_triggers();
	return NULL;
}

FIXTURE(open_it, close_it)

/* A histogram that can't be set is in the list while it is tried. Others that show the list never look at its closed sink. */
TEST(list_beside_one_that_fails)
{
	bool stop = false;
	pthread_t lister;

	pthread_create(&lister, NULL, list_triggers, &stop);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_lt(tp_trigger(NULL, "sample:*", "hist:keys=common_pid if no_such_field == 1", NULL), 0);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(lister, NULL);
	ck_assert_uint_eq(nr_triggers(), 0);
}

/* ---- Modules ---- */

/* Their events fire it when they come, and again when they come back. */
LOOP_TEST(modules_that_come_and_go, 2)
{
	struct sample_module m;

	ck_assert_int_eq(tp_trigger(&s.head, "later:*", _i ? "traceoff if value == 2" : "traceoff", NULL), 0);
	sample_module_init(&m, "later", "event", "int value");
	for (int turn = 0; turn < 2; turn++) {
		tp_module_load(&m.module);
		sample_module_hit(&m, 1);
		ck_assert_int_eq(tp_sink_is_on(&s.head), _i);
		sample_module_hit(&m, 2);
		ck_assert(!tp_sink_is_on(&s.head));
		tp_module_unload(&m.module);
		tp_sink_switch(&s.head, true);
	}
	ck_assert_uint_eq(nr_triggers(), 1);
	ck_assert_int_eq(tp_trigger(&s.head, "later:*", "!traceoff", NULL), 0);
}

TEST(module_that_comes_later_and_does_not_fit)
{
	struct sample_module m;

	ck_assert_int_eq(tp_trigger(&s.head, "lacking:*", "traceoff if value == 2", NULL), 0);
	sample_module_init(&m, "lacking", "event", "int value");
	m.event.event_class = describe(&(struct parts){.fixed_size = 12});
	capture_stderr();
	tp_module_load(&m.module);
	char *message = captured_stderr();
	ck_assert_contains(message, "lacking:*, in a trigger output: the filter does not fit 'lacking:event', which does not fire the "
				    "trigger: Field not found");
	free(message);
	sample_module_hit(&m, 2);
	ck_assert(tp_sink_is_on(&s.head));
	tp_module_unload(&m.module);
}

/* ---- Memory ---- */

static int left;

static void *malloc_some(size_t size)
{
	return left-- > 0 ? malloc(size) : NULL;
}

static const char *const commands[] = {
	"traceoff if value > 3", "enable_event:sample:sample_text:3", "snapshot:1 if value > 3", "stacktrace",
};

FIXTURE(setup, NULL)

LOOP_TEST(without_memory, NR_OF(commands))
{
	struct tp_sink *sink = open_sink("mode=flight,packet=4K,packets=8");
	int result = -1;

	ck_assert_int_eq(tp_trigger(sink, "sample_int", "stacktrace", NULL), 1); /* its event is there for good */
	ck_assert_int_eq(tp_trigger(sink, "sample_int", "!stacktrace", NULL), 0);
	for (int nr = 0; result < 0; nr++) {
		left = nr;
		tp_malloc = malloc_some;
		result = tp_trigger(sink, "sample_int", commands[_i], NULL);
		tp_malloc = malloc;
		ck_assert_int_eq(result, result < 0 ? -ENOMEM : 1);
		ck_assert_uint_eq(nr_triggers(), result == 1);
	}
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_uint_eq(nr_triggers(), 0);
}

/* ---- Where it must not be called ---- */

static int result_in_probe;

static void probe(void *data, int value)
{
	(void)value;
	result_in_probe = tp_trigger(data, "sample_text", "traceoff", NULL);
}

FIXTURE(open_it, close_it)

TEST(in_a_probe)
{
	register_trace_sample_int(probe, &s.head);
	trace_sample_int(1);
	unregister_trace_sample_int(probe, &s.head);
	ck_assert_int_eq(result_in_probe, -EDEADLK);
	ck_assert_uint_eq(nr_triggers(), 0);
}

/* ---- A sink that closes ---- */

static void *close_in_thread(void *sink)
{
	tp_sink_close(sink);
	return NULL;
}

static bool is_open(uint64_t serial)
{
	return tp_sink_of_serial(serial) != NULL;
}

/* Somebody holds it still, who is told that it is too late; its triggers go. */
TEST(sink_that_is_closing)
{
	static struct list_sink other;
	pthread_t thread;

	open_list_sink(&other);
	const uint64_t serial = tp_sink_serial(&other.head);
	ck_assert_int_eq(tp_trigger(&other.head, "sample_int", "traceoff", NULL), 1);
	ck_assert_ptr_eq(tp_sink_hold(serial), &other.head);
	pthread_create(&thread, NULL, close_in_thread, &other.head);
	while (is_open(serial))
		;
	ck_assert_int_eq(tp_trigger(&other.head, "sample_text", "traceoff", NULL), -EINVAL);
	ck_assert_int_eq(tp_trigger(&other.head, "sample_int", "!traceoff", NULL), -EINVAL);
	ck_assert(!other.closed);
	tp_sink_let_go(&other.head);
	pthread_join(thread, NULL);
	ck_assert(other.closed);
	ck_assert_uint_eq(nr_triggers(), 0);
}

struct at_the_end {
	struct tp_sink *sink;
	uint64_t serial;
	pthread_t closer;
	unsigned int nr;
};

static void close_meanwhile(struct tp_sink *sink, void *data)
{
	struct at_the_end *end = data;

	ck_assert_ptr_ne(sink, end->sink);
	ck_assert_uint_eq(end->nr++, 0);
	pthread_create(&end->closer, NULL, close_in_thread, end->sink);
	while (is_open(end->serial))
		;
	usleep(20000); /* if it did not wait, it would be through by then */
	ck_assert_uint_eq(nr_triggers(), 2);
}

FIXTURE(setup, NULL)

/* Histograms are shown when the program ends. A sink that another thread closes meanwhile takes along those that are left. */
TEST(sink_that_closes_at_the_end)
{
	static const char *const triggers[] = {
		"hist:keys=common_pid:v=value:onmax($v).snapshot()", "hist:keys=cpu:v=value:onmax($v).snapshot()",
	};
	struct at_the_end end = {.sink = open_sink("mode=flight,packet=4K,packets=8")};

	end.serial = tp_sink_serial(end.sink);
	for (int i = 0; i < 2; i++) {
		struct tp_trigger_request request = {
			.sink = end.sink, .patterns = "sample_int", .trigger = triggers[i], .at_end = true,
		};
		ck_assert_int_eq(tp_trigger_request(&request), 1);
	}
	ck_assert_int_eq(tp_triggers_end(close_meanwhile, &end), 1);
	pthread_join(end.closer, NULL);
	ck_assert_uint_eq(nr_triggers(), 0);
}
