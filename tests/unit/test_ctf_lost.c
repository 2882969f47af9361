/* SPDX-License-Identifier: MIT */
/* test_ctf_lost.c - records that are lost: by which cause, and where it is told. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "events/events.h"
#include "ctf_fixture.h"
#include "ctf_packets.h"
#include "base/thread.h"
#include "describe.h"
#include "sample.h"
#include "util.h"

/* ---- Losses by cause ---- */

/* No ck_assert while there is a limit: check writes each into a file, too. */
static void limit_file_sizes(rlim_t bytes)
{
	const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &limit);
}

static void lose_too_large(const char *xs)
{
	trace_sample_text(xs); /* longer than any record */
	trace_sample_text(xs + 70000 - 5000); /* longer than a packet */
}

/* Inside a record, whose packet is full. */
static void lose_nested(struct tp_sink *sink, const char *xs)
{
	struct tp_record outer;
	int *entry = tp_reserve(&outer, sink, &tp_event_sample_int, 12);

	entry[2] = 0;
	for (int i = 0; i < 4; i++) /* the first one is not lost */
		trace_sample_text(xs + 70000 - 3000);
	tp_commit(&outer);
}

/* CTF has no words for it. */
static void lose_other(struct tp_sink *sink)
{
	static const struct part field = {.field = {.name = "w", .type = "v", .kind = TP_DYNAMIC_ARRAY, .type_class = TP_OTHER,
						    .offset = 8, .size = 4, .element_size = 16, .element_align = 16}};
	static struct sample_module wide;

	sample_module_init(&wide, "sample", "wide", "int");
	wide.event.event_class = describe(&(struct parts){.fields = &field, .nr_fields = 1, .fixed_size = 12});
	capture_stderr();
	tp_module_load(&wide.module);
	free(captured_stderr());
	tp_probe_register("wide", "int", wide.event.record, sink, 10);
	for (int i = 0; i < 4; i++)
		sample_module_hit(&wide, i);
	tp_probe_unregister("wide", wide.event.record, sink);
	tracepoint_synchronize_unregister();
}

static void lose_until(struct tp_sink *sink, enum tp_lost cause, unsigned long nr)
{
	for (int i = 0; i < 10 * PER_PACKET && tp_sink_lost_by(sink, cause) < nr; i++)
		trace_sample_int(i);
}

FIXTURE(setup, NULL)

TEST(each_cause_is_counted)
{
	static const unsigned int expected[] = {
		[TP_LOST_NO_FILE] = 5, [TP_LOST_LIMIT] = 6, [TP_LOST_NESTED] = 3, [TP_LOST_TOO_LARGE] = 2, [TP_LOST_OTHER] = 4,
	};
	static char xs[70001];
	char message[400];
	int status;
	struct tp_sink *sink = open_sink("packet=4K,packets=3");

	memset(xs, 'x', sizeof(xs) - 1);
	lose_too_large(xs);
	lose_nested(sink, xs);
	lose_other(sink);
	capture_stderr();
	limit_file_sizes(1000);
	lose_until(sink, TP_LOST_NO_FILE, 5);
	limit_file_sizes(RLIM_INFINITY);
	usleep(150000); /* it is tried again after 100 ms */
	lose_until(sink, TP_LOST_LIMIT, 6);
	char *messages = captured_stderr();
	snprintf(message, sizeof(message), "tp: CTF trace '%s': no new packet of 4096 bytes can be made: File too large (the "
					   "limit on file sizes: a smaller packet= may be within it); records are lost until it can\n", trace);
	ck_assert_str_eq(messages, message);
	free(messages);
	for (enum tp_lost cause = 0; cause < TP_NR_LOST; cause++)
		ck_assert_uint_eq(tp_sink_lost_by(sink, cause), expected[cause]);
	ck_assert_uint_eq(tp_sink_lost(sink), 20);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_NR_LOST), 0);
	ck_assert_uint_eq(tp_sink_lost_by(sink, (enum tp_lost) - 1), 0);

	/* A child has lost nothing yet. */
	pid_t child = fork();
	if (child == 0)
		_exit(tp_sink_lost(sink) == 0 ? 0 : 1);
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);

	close_saying(sink, "20 (no file: 5, limit: 6, nested: 3, too large: 2, other: 4)", -EFBIG);
	ck_assert_uint_eq(discarded_in(trace), 20);
	char *text = clean_babeltrace(trace);
	ck_assert_contains(text, "discarded");
	free(text);
}

static void *records_seven(void *unused)
{
	record(0, 7);
	return unused;
}

/* They have no stream to be counted in. */
LOOP_TEST(losses_without_a_packet, 3)
{
	struct tp_sink *sink = open_sink("packet=4K");
	const struct packet_file *packets;
	pthread_t thread;
	size_t nr;

	if (_i != 1)
		trace_sample_int(0);
	capture_stderr();
	limit_file_sizes(1000);
	pthread_create(&thread, NULL, records_seven, NULL);
	pthread_join(thread, NULL);
	limit_file_sizes(RLIM_INFINITY);
	free(captured_stderr());
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NO_FILE), 7);
	usleep(150000);
	if (_i > 0) { /* the next packet of all tells of them, whoever's */
		pthread_create(&thread, NULL, records_seven, NULL);
		pthread_join(thread, NULL);
		packets = packets_of(trace, &nr);
		ck_assert_uint_eq(packets[nr - 1].head.events_discarded, 7);
	}
	close_saying(sink, "7 (no file: 7)", -EFBIG);
	ck_assert_uint_eq(discarded_in(trace), 7);
	free(clean_babeltrace(trace));
}

TEST(a_child_counts_for_itself)
{
	struct tp_sink *sink = open_sink("packet=4K,packets=2");
	int status;

	record(0, 2 * PER_PACKET + 3);
	pid_t child = fork();
	if (child == 0) {
		record(0, 2 * PER_PACKET + 5);
		if (tp_sink_lost_by(sink, TP_LOST_LIMIT) != 5)
			_exit(1);
		capture_stderr();
		tp_sink_close(sink);
		char *messages = captured_stderr();
		_exit(strstr(messages, "records lost: 5 (limit: 5)\n") ? 0 : 2);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(tp_sink_lost(sink), 3);
	close_saying(sink, "3 (limit: 3)", 0);
	ck_assert_uint_eq(discarded_in(trace), 8);
	free(clean_babeltrace(trace));
}

/* ---- The longest record, and one that is no event ---- */

TEST(longest_record)
{
	struct tp_sink *sink = open_sink("packet=128K");
	char *string = malloc(TP_RECORD_MAX);
	size_t longest = TP_RECORD_MAX - 12 - 1;

	trace_sample_int(1);
	memset(string, 'x', TP_RECORD_MAX);
	string[longest] = '\0';
	trace_sample_text(string);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	string[longest] = 'x';
	string[longest + 1] = '\0';
	trace_sample_text(string);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_TOO_LARGE), 1);
	close_saying(sink, "1 (too large: 1)", 0);
	char *text = clean_babeltrace(trace);
	string[longest] = '\0';
	ck_assert_uint_eq(count_of(text, "text = \"xx"), 1);
	ck_assert_ptr_nonnull(find(text, string));
	ck_assert_contains(text, "len = 65516 ");
	free(text);
	free(string);
}

/* The packets of a ring that has gone round have no end but their own: the runtime is not asked for more of one. */
TEST(longest_record_of_a_ring)
{
	struct tp_sink *sink = open_sink("mode=flight,packet=256K,packets=2");
	const size_t longest = TP_RECORD_MAX - 12 - 1;
	char *string = malloc(TP_RECORD_MAX);

	memset(string, 'x', TP_RECORD_MAX);
	for (unsigned int i = 1; i <= 20; i++) {
		string[longest + 1] = '\0';
		trace_sample_text(string);
		ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_TOO_LARGE), i);
		trace_sample_text(string + 1);
		string[longest + 1] = 'x';
	}
	close_saying(sink, "20 (too large: 20)", 0);
	free(clean_babeltrace(trace));
	free(string);
}

/* ---- Sinks that are not ours ---- */

struct hand_made {
	struct tp_sink head;
	unsigned int reserved, committed, refused;
	int last;
};

static bool hand_made_reserve(struct tp_record *rec)
{
	struct hand_made *sink = (struct hand_made *)rec->sink;

	sink->reserved++;
	rec->entry = tp_scratch_push(rec->size);
	if (!rec->entry)
		tp_sink_count_lost(rec->sink, TP_LOST_NESTED);
	return rec->entry;
}

static void hand_made_commit(struct tp_record *rec)
{
	struct hand_made *sink = (struct hand_made *)rec->sink;

	sink->committed++;
	sink->last = ((int *)(void *)rec->entry)[2];
	ck_assert_int_eq(rec->entry->pid, tp_thread_id());
	ck_assert_uint_eq(rec->entry->type, rec->event->id);
	tp_scratch_pop(rec->entry);
}

static void hand_made_lost(struct tp_sink *head, enum tp_lost cause)
{
	ck_assert_int_eq(cause, TP_LOST_TOO_LARGE);
	((struct hand_made *)head)->refused++;
}

static int hand_made_close(struct tp_sink *head)
{
	(void)head;
	return 0;
}

/* In a thread that has a stream in slot 0, which is also what their heads are with. */
LOOP_TEST(hand_made_sinks, 2)
{
	const struct tp_sink_ops ops = {.name = "by hand", .reserve = hand_made_reserve, .commit = hand_made_commit,
					.close = hand_made_close, .lost = _i ? hand_made_lost : NULL};
	struct hand_made sink = {.reserved = 0};
	struct tp_sink *ctf = open_sink("packet=4K");
	struct tp_record rec;

	trace_sample_int(0);
	ck_assert_int_eq(tp_sink_open(&sink.head, &ops), 0);
	tp_enable(&sink.head, "sample:*");
	record(1, 101);
	ck_assert_uint_eq(sink.reserved, 100);
	ck_assert_uint_eq(sink.committed, 100);
	ck_assert_int_eq(sink.last, 100);
	ck_assert_ptr_nonnull(tp_reserve(&rec, &sink.head, &tp_event_sample_int, TP_RECORD_MAX));
	ck_assert_uint_eq(rec.size, TP_RECORD_MAX);
	tp_commit(&rec);
	ck_assert_ptr_null(tp_reserve(&rec, &sink.head, &tp_event_sample_int, TP_RECORD_MAX + 1));
	ck_assert_uint_eq(sink.refused, _i ? 1 : 0);
	ck_assert_uint_eq(tp_sink_lost(&sink.head), _i ? 0 : 1);
	ck_assert_uint_eq(tp_sink_lost_by(&sink.head, TP_LOST_TOO_LARGE), _i ? 0 : 1);
	ck_assert_uint_eq(sink.committed, 101);
	ck_assert_int_eq(tp_sink_close(&sink.head), 0);
	close_saying(ctf, NULL, 0);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(run_of(text, 0).nr, 101);
	free(text);
}

/* By another clock, another way takes the record. */
AGAIN(setup_monotonic, NULL)

FIXTURE(setup, NULL)

TEST(events_without_an_id)
{
	static struct sample_module m, last;
	static const uint32_t own = 3; /* this program's */
	char name[16];

	tp_events_start();
	for (uint32_t i = 0; i < 65535 - own - 1; i++) {
		snprintf(name, sizeof(name), "many%u", i);
		sample_module_init(&m, "many", name, "int");
		tp_module_load(&m.module);
		tp_module_unload(&m.module);
	}
	struct tp_sink *sink = open_sink("packet=64K");
	trace_sample_int(0); /* the short way is open */
	sample_module_init(&last, "many", "last", "int");
	tp_module_load(&last.module);
	capture_stderr();
	sample_module_init(&m, "many", "without", "int");
	tp_module_load(&m.module);
	free(captured_stderr());
	ck_assert_uint_eq(last.event.id, 65535);
	ck_assert_uint_eq(m.event.id, 0);
	tp_enable(sink, "*");
	tp_probe_register("without", "int", m.event.record, sink, 10);
	record(1, 3);
	sample_module_hit(&last, 3);
	sample_module_hit(&m, 99);
	record(4, 10);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_OTHER), 1);
	tp_probe_unregister("without", m.event.record, sink);
	close_saying(sink, "1 (other: 1)", 0);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(run_of(text, 0).nr, 10);
	ck_assert_contains(text, "many:last: ");
	free(text);
}
