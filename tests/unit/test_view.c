/* SPDX-License-Identifier: MIT */
/*
 * test_view.c - what others than the program see and do: which sinks are open, with which rules; to which of them an event is
 * attached; sinks that are held; messages that are captured.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "base/text.h"
#include "events/events.h"
#include "list_sink.h"

/* ---- Sinks and rules ---- */

static void put_rule(bool enable, const char *patterns, const char *filter, void *data)
{
	tp_buffer_printf(data, " %s '%s'", enable ? "enable" : "disable", patterns);
	if (filter)
		tp_buffer_printf(data, " if '%s'", filter);
}

static void put_sink(const struct tp_sink_view *view, void *data)
{
	tp_buffer_printf(data, "%s %u %lu/%lu", view->kind, view->nr_attached, view->lost[0], view->lost[TP_LOST_OTHER]);
	tp_sink_view_rules(view, put_rule, data);
	tp_buffer_printf(data, "\n");
}

static void sinks_are(const char *expected)
{
	struct tp_buffer b = {.text = NULL};

	tp_sinks_each(put_sink, &b);
	ck_assert_str_eq(b.text ? b.text : "", expected);
	tp_buffer_free(&b);
}

TEST(open_sinks)
{
	struct list_sink one, two;

	sinks_are("");
	open_list_sink(&one);
	sinks_are("plain 0 0/0\n");
	open_list_sink(&two);
	tp_enable(&one.head, " sample:* ,!sample_int,");
	tp_enable(&two.head, "*");
	tp_disable(&two.head, "sample_text");
	tp_enable(&two.head, "nobody:*");
	tp_sink_count_lost(&two.head, TP_LOST_NO_FILE);
	tp_sink_count_lost(&two.head, TP_LOST_OTHER);
	sinks_are("plain 2 0/0 enable ' sample:* ,!sample_int,'\n"
		  "plain 2 1/1 enable '*' disable 'sample_text' enable 'nobody:*'\n");
	/* A rule with the same patterns takes the place of the earlier one, and is as it was given last. */
	tp_enable(&two.head, "sample_text ");
	sinks_are("plain 2 0/0 enable ' sample:* ,!sample_int,'\n"
		  "plain 3 1/1 enable '*' enable 'nobody:*' enable 'sample_text '\n");
	ck_assert_int_eq(tp_enable(&two.head, "a,,b"), -EINVAL);
	/* A filter decides where it fits; where it does not, the rule of the same patterns that it follows does. */
	ck_assert_int_eq(tp_enable_if(&one.head, "sample:*", "value > 1", NULL), 1);
	ck_assert_int_eq(tp_enable_if(&one.head, "sample:*", "s8 > 1", NULL), 1);
	ck_assert_int_eq(tp_enable_if(&one.head, "sample:*", " value > 2", NULL), 1);
	sinks_are("plain 3 0/0 enable ' sample:* ,!sample_int,' enable 'sample:*' if 's8 > 1' enable 'sample:*' if ' value > 2'\n"
		  "plain 3 1/1 enable '*' enable 'nobody:*' enable 'sample_text '\n");
	ck_assert_int_eq(tp_enable(&one.head, "sample:*"), 0);
	sinks_are("plain 3 0/0 enable ' sample:* ,!sample_int,' enable 'sample:*'\n"
		  "plain 3 1/1 enable '*' enable 'nobody:*' enable 'sample_text '\n");
	tp_sink_close(&one.head);
	sinks_are("plain 3 1/1 enable '*' enable 'nobody:*' enable 'sample_text '\n");
	tp_sink_close(&two.head);
	sinks_are("");
}

static void put_serial(uint64_t serial, void *data)
{
	tp_buffer_printf(data, " %llu", (unsigned long long)serial);
}

static void put_event(const struct tp_event *event, void *data)
{
	tp_buffer_printf(data, "%s:", event->name);
	tp_events_sinks(event, put_serial, data);
	tp_buffer_printf(data, "\n");
}

/* So many events of this name are attached to these sinks. */
static void events_have(unsigned int nr, const char *name, const struct list_sink *a, const struct list_sink *b)
{
	struct tp_buffer all = {.text = NULL}, line = {.text = NULL};

	tp_buffer_printf(&line, "%s:", name);
	if (a)
		put_serial(tp_sink_serial((struct tp_sink *)&a->head), &line);
	if (b)
		put_serial(tp_sink_serial((struct tp_sink *)&b->head), &line);
	tp_buffer_printf(&line, "\n");
	tp_for_each_event(put_event, &all);
	ck_assert_uint_eq(count_of(all.text, line.text), nr);
	tp_buffer_free(&all);
	tp_buffer_free(&line);
}

TEST(sinks_of_an_event)
{
	static struct sample_module twin;
	struct list_sink one, two;

	open_list_sink(&one);
	open_list_sink(&two);
	events_have(1, "sample_int", NULL, NULL);
	tp_enable(&one.head, "sample_int");
	events_have(1, "sample_int", &one, NULL);
	tp_enable(&two.head, "*,!sample_text");
	events_have(1, "sample_int", &one, &two);
	events_have(1, "sample_kinds", &two, NULL);
	events_have(1, "sample_text", NULL, NULL);
	/* Two modules have it: it is on in both of them. */
	sample_module_init(&twin, "sample", "sample_int", "int");
	tp_module_load(&twin.module);
	events_have(2, "sample_int", &one, &two);
	tp_module_unload(&twin.module);
	tp_sink_close(&one.head);
	events_have(1, "sample_int", &two, NULL);
	tp_sink_close(&two.head);
	events_have(1, "sample_int", NULL, NULL);
}

/* ---- Sinks that are held ---- */

static void *close_it(void *sink)
{
	tp_sink_close(sink);
	return NULL;
}

static unsigned int nr_open;

static void count_sinks(const struct tp_sink_view *view, void *data)
{
	(void)view;
	++*(unsigned int *)data;
}

static bool is_listed(void)
{
	nr_open = 0;
	tp_sinks_each(count_sinks, &nr_open);
	return nr_open != 0;
}

TEST(held_while_it_is_closed)
{
	struct list_sink s;
	pthread_t closer;

	open_list_sink(&s);
	tp_enable(&s.head, "*");
	const uint64_t serial = tp_sink_serial(&s.head);
	ck_assert_ptr_eq(tp_sink_hold(serial), &s.head);
	ck_assert_ptr_eq(tp_sink_hold(serial), &s.head); /* twice */
	pthread_create(&closer, NULL, close_it, &s.head);
	while (is_listed())
		usleep(1000);
	/* It is off, gone for everybody, refuses to be switched on, but is there. */
	ck_assert_hits(&s, "");
	ck_assert_ptr_null(tp_sink_hold(serial));
	ck_assert_ptr_null(tp_sink_of_serial(serial));
	ck_assert_int_eq(tp_sink_close_serial(serial), -ENOENT);
	ck_assert_int_eq(tp_enable(&s.head, "*"), -EINVAL);
	ck_assert_int_eq(tp_disable(&s.head, "*"), -EINVAL);
	ck_assert_hits(&s, "");
	tp_sink_let_go(&s.head);
	usleep(20000);
	ck_assert(!__atomic_load_n(&s.closed, __ATOMIC_ACQUIRE));
	tp_sink_let_go(&s.head);
	pthread_join(closer, NULL);
	ck_assert(s.closed);
}

TEST(closed_by_its_number)
{
	struct list_sink s;

	open_list_sink(&s);
	const uint64_t serial = tp_sink_serial(&s.head);
	ck_assert_int_eq(tp_sink_close_serial(serial), -EPIPE);
	ck_assert(s.closed);
	ck_assert_int_eq(tp_sink_close_serial(serial), -ENOENT);
	ck_assert_int_eq(tp_sink_close_serial(0), -ENOENT);
	ck_assert_ptr_null(tp_sink_hold(serial));
}

static void *hold_it(void *serial)
{
	return tp_sink_hold(*(const uint64_t *)serial);
}

/* The thread that holds it is not in the child, nor does the one that forks hold it there. */
TEST(held_during_a_fork)
{
	struct list_sink s;
	pthread_t holder;
	void *held;
	int status;

	open_list_sink(&s);
	uint64_t serial = tp_sink_serial(&s.head);
	pthread_create(&holder, NULL, hold_it, &serial);
	pthread_join(holder, &held);
	ck_assert_ptr_eq(held, &s.head);
	ck_assert_ptr_eq(tp_sink_hold(serial), &s.head);
	pid_t child = fork();
	if (child == 0) {
		alarm(600);
		tp_sink_let_go(&s.head);
		_exit(tp_sink_close(&s.head) == -EPIPE ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	tp_sink_let_go(&s.head);
	tp_sink_let_go(&s.head);
	tp_sink_close(&s.head);
}

static bool stop;

static void *hold_and_use(void *serial)
{
	unsigned long nr = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		struct tp_sink *sink = tp_sink_hold(__atomic_load_n((uint64_t *)serial, __ATOMIC_ACQUIRE));
		if (!sink)
			continue;
		tp_enable(sink, nr++ % 2 ? "sample_int" : "sample_text");
		tp_sink_let_go(sink);
	}
	return NULL;
}

TEST(held_by_many)
{
	enum { NR = 3 };
	pthread_t thread[NR];
	uint64_t serial = 0;

	for (int i = 0; i < NR; i++)
		pthread_create(&thread[i], NULL, hold_and_use, &serial);
	for (int i = 0; i < 500; i++) {
		struct list_sink *s = malloc(sizeof(*s));
		open_list_sink(s);
		__atomic_store_n(&serial, tp_sink_serial(&s->head), __ATOMIC_RELEASE);
		if (i % 8 == 0)
			usleep(1000);
		ck_assert_int_eq(i % 2 ? tp_sink_close(&s->head) : tp_sink_close_serial(serial), -EPIPE);
		memset(s, 0xee, sizeof(*s));
		free(s);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (int i = 0; i < NR; i++)
		pthread_join(thread[i], NULL);
}

/* ---- Messages ---- */

static void *complain(void *unused)
{
	tp_complain("of another thread");
	return unused;
}

TEST(messages_are_captured)
{
	struct tp_buffer b = {.text = NULL};
	pthread_t other;

	capture_stderr();
	tp_message_capture(&b);
	errno = E2BIG;
	tp_complain("one %d", 1);
	tp_complain("two\nlines\x1b");
	ck_assert_int_eq(errno, E2BIG);
	pthread_create(&other, NULL, complain, NULL);
	pthread_join(other, NULL);
	tp_message_capture(NULL);
	tp_complain("three");
	char *messages = captured_stderr();
	ck_assert_str_eq(messages, "tp: of another thread\ntp: three\n");
	ck_assert_str_eq(b.text, "one 1\ntwo lines?\n");
	free(messages);
	tp_buffer_free(&b);
}
