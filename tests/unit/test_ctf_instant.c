/* SPDX-License-Identifier: MIT */
/*
 * test_ctf_instant.c - a CTF trace is valid at every instant: what another process
 * would find there is looked at after each instruction of a thread that records, and
 * signal handlers that record come after any two of them.
 *
 * By the processor's trap flag, so on x86-64 only.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf_fixture.h"
#include "ctf_packets.h"
#include "record/stream.h"
#include "sample.h"
#include "util.h"

FIXTURE(setup, NULL)

/* As that of a processor does where a machine was suspended. */
TEST(counter_goes_back)
{
	struct tp_sink *sink = open_sink(NULL);
	uint64_t time;

	trace_sample_int(1);
	struct tp_stream *own = tp_stream_slots[sink->slot].stream;
	const uint64_t later = own->last_time + 1000000000000;
	own->last_time = later;
	for (int i = 2; i < 4; i++) {
		trace_sample_int(i);
		memcpy(&time, tp_stream_at(own, own->position - 12 - sizeof(time)), sizeof(time));
		ck_assert_uint_eq(time, later);
		ck_assert_uint_eq(own->packet->timestamp_end, later);
	}
	close_saying(sink, NULL, 0);
	free(clean_babeltrace(trace));
}

#if defined(__x86_64__)

#include "traps.h"

/* ---- What a reader finds after each instruction ---- */

#define NR_PACKETS 3

static int directory, newest, committed;
static uint64_t discarded;
static bool goes_round; /* in two files; else each packet has its own, and the newest two are looked at */
static char files[2][4096] __attribute__((aligned(8)));
static char packet_memory[4096] __attribute__((aligned(8)));

/* The heads and the content of the thread's packets. In a flight recorder, a file becomes another packet. */
static int read_files(void)
{
	char name[64];
	int nr = 0;

	for (int i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "stream-%d-0-%d", (int)getpid(), (goes_round || newest < 0 ? 0 : newest) + i);
		int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		must_be(read(fd, files[nr], sizeof(files[nr])) == sizeof(files[nr]));
		close(fd);
		nr++;
	}
	return nr;
}

/* No two are of one number, and their times are in its order. */
static void check_order(int nr)
{
	for (int i = 0; i < nr; i++) {
		const struct tp_packet *one = (const void *)files[i];
		for (int j = 0; j < nr; j++) {
			const struct tp_packet *other = (const void *)files[j];
			must_be(i == j || one->packet_seq_num != other->packet_seq_num);
			must_be(one->packet_seq_num >= other->packet_seq_num ||
				(one->timestamp_end <= other->timestamp_begin && one->events_discarded <= other->events_discarded));
		}
	}
}

/* The one with this number; false where there is none. */
static bool find_packet(int number, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (((const struct tp_packet *)(const void *)files[i])->packet_seq_num == (uint64_t)number) {
			memcpy(packet_memory, files[i], sizeof(packet_memory));
			return true;
		}
	}
	return false;
}

/* The records of the packet with this number, of which each has the next value. */
static void check_packet(int number)
{
	const struct tp_packet *head = (const void *)packet_memory;
	const struct recorded *records = (const void *)(head + 1);
	uint64_t last = head->timestamp_begin;

	must_be(head->magic == TP_CTF_MAGIC);
	must_be(head->packet_size == sizeof(packet_memory) * 8);
	must_be(head->content_size >= sizeof(*head) * 8 && head->content_size <= head->packet_size);
	must_be(head->timestamp_begin <= head->timestamp_end);
	must_be(head->packet_seq_num == (uint64_t)number);
	must_be(head->events_discarded >= discarded);
	discarded = head->events_discarded;
	for (size_t i = 0; !wrong && i < nr_in(head); i++) {
		must_be(records[i].entry.type == tp_event_sample_int.id);
		must_be(records[i].value == number * PER_PACKET + (int)i);
		must_be(records[i].time >= last);
		last = records[i].time;
	}
	must_be(last <= head->timestamp_end); /* barrier (D) */
}

static void look(int signal)
{
	const int saved = errno;

	(void)signal;
	steps++;
	const int nr_files = read_files();
	check_order(nr_files);
	if (find_packet(newest + 1, nr_files))
		newest++;
	if (find_packet(newest, nr_files)) {
		const size_t nr = nr_in((const void *)packet_memory);
		check_packet(newest);
		must_be(newest * PER_PACKET + (int)nr >= committed);
	} else {
		must_be(newest < 0);
	}
	errno = saved;
}

LOOP_TEST(valid_after_each_instruction, 2)
{
	static const char *const options[] = {"packet=4K", "mode=flight,packet=4K,packets=2"};
	const int near = (int)few_or_many(8, PER_PACKET);
	struct tp_sink *sink = open_sink(options[_i]);

	newest = -1;
	goes_round = _i == 1;
	directory = open(trace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	signal(SIGTRAP, look);
	trace_sample_int(0);
	committed = 1;
	for (int i = 1; i <= NR_PACKETS * PER_PACKET; i++) {
		const int behind = i % PER_PACKET; /* the first record of the packet; in the middle of one, all go the same way */
		if (behind < near || behind >= PER_PACKET - near)
			traps_on();
		trace_sample_int(i);
		committed = i + 1;
		traps_off();
	}
	signal(SIGTRAP, SIG_DFL);
	close(directory);
	ck_assert_msg(!wrong, "after instruction %lu, in packet %d: not %s", wrong_step, newest, wrong);
	ck_assert_int_eq(newest, NR_PACKETS);
	ck_assert_uint_gt(steps, (unsigned long)committed);
	close_saying(sink, NULL, 0);
	char *text = clean_babeltrace(trace);
	ck_assert_lacks(text, "discarded");
	free(text);
}

/* ---- Handlers that record after any two instructions ---- */

static struct tp_stream *stream;
static uint64_t looked_at, last_time; /* up to this position, and the time of the record there */
static unsigned long first, second;
static unsigned int handled, more; /* records of handlers; what the last handler records besides its one */

/* All that is content by now is complete, and in the order of its times. */
static void check_content(void)
{
	const struct tp_packet *packet = stream->packet;
	const uint64_t end = stream->start + packet->content_size / 8;

	if (more) { /* the packet may be another one */
		looked_at = stream->start + sizeof(*packet);
		last_time = packet->timestamp_begin;
	}
	for (; looked_at < end && !wrong; looked_at += sizeof(struct recorded)) {
		const struct recorded *record = (const void *)tp_stream_at(stream, looked_at);
		must_be(record->entry.type == tp_event_sample_int.id);
		must_be(record->value >= 1 && record->value <= 3);
		must_be(record->time >= last_time);
		last_time = record->time;
	}
	must_be(last_time <= packet->timestamp_end);
}

static void record_at_two(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)signal, (void)info;
	if (++steps != first && steps != second)
		return;
	if (steps == (second ? second : first))
		*flags &= ~0x100; /* there is nothing more to be done in this record */
	trace_sample_int(2);
	handled++;
	for (unsigned int i = 0; (!second || steps == second) && i < more; i++)
		trace_sample_int(3);
	check_content();
}

static void record_int(void)
{
	trace_sample_int(1);
}

static struct tp_sink *losing;
static size_t too_long = 5000; /* for a packet */

static void lose_one(void)
{
	struct tp_record rec;

	must_be(!tp_reserve(&rec, losing, &tp_event_sample_int, too_long));
}

static void (*outer)(void) = record_int;

/* Returns the instructions that it took. */
static unsigned long record_one(unsigned long at, unsigned long and_at)
{
	first = at;
	second = and_at;
	steps = 0;
	traps_on();
	outer();
	traps_off();
	check_content();
	must(stream->published == stream->position, "all content when the outermost record is committed");
	must(stream->packet->content_size == (stream->position - stream->start) * 8, "told of by the packet's head");
	return steps;
}

/* Before a commit, not behind each of the many instructions that a sanitizer makes of it. */
static unsigned long stride_of_first(void)
{
	return under_sanitizer() ? few_or_many(5, 1) : 1;
}

/* Returns the records, without those of handlers. */
static unsigned int record_with_handlers(struct tp_sink *sink, unsigned long sparse)
{
	const struct sigaction action = {.sa_sigaction = record_at_two, .sa_flags = SA_SIGINFO};
	unsigned int records = 2;

	trace_sample_int(1);
	stream = tp_stream_slots[sink->slot].stream;
	looked_at = stream->start + sizeof(struct tp_packet);
	sigaction(SIGTRAP, &action, NULL);
	const unsigned long nr = record_one(0, 0);
	/* Of pairs, all, where the compiler makes a short way of it; about as many where a sanitizer makes a long one. */
	const unsigned long stride = sparse * (1 + nr * nr * nr / 3000000);
	for (unsigned long i = 1; i <= nr && !wrong; i += stride_of_first()) {
		record_one(i, 0);
		records++;
		for (unsigned long j = i + 1 + i % stride; j <= nr && !wrong; j += stride) {
			record_one(i, j);
			records++;
		}
	}
	signal(SIGTRAP, SIG_DFL);
	ck_assert_msg(!wrong, "handlers after instructions %lu and %lu: not %s", first, second, wrong);
	ck_assert_uint_gt(handled, records);
	return records;
}

/* Who comes back to the record that was interrupted finds another packet, and the same place in it. */
TEST(handlers_that_fill_packets)
{
	struct tp_sink *sink = open_sink("packet=4K,packets=2,full=overwrite");

	more = PER_PACKET - 1;
	record_with_handlers(sink, under_sanitizer() ? 25 : few_or_many(40, 5));
	free(close_and_read(sink));
}

/* The packet that counts the loss is gone in the middle of that. */
TEST(handlers_that_fill_packets_during_a_loss)
{
	struct tp_sink *sink = open_sink("packet=4K,packets=2,full=overwrite");
	const struct sigaction action = {.sa_sigaction = record_at_two, .sa_flags = SA_SIGINFO};

	losing = sink;
	more = PER_PACKET - 1;
	outer = lose_one;
	trace_sample_int(1);
	stream = tp_stream_slots[sink->slot].stream;
	sigaction(SIGTRAP, &action, NULL);
	const unsigned long nr = record_one(0, 0);
	unsigned long losses = 1;
	for (unsigned long i = 1; i <= nr && !wrong; i += stride_of_first(), losses++)
		record_one(i, 0);
	signal(SIGTRAP, SIG_DFL);
	ck_assert_msg(!wrong, "a handler after instruction %lu: not %s", first, wrong);
	ck_assert_uint_gt(handled, losses / 2);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_TOO_LARGE), losses);
	free(close_and_read(sink));
}

/* It reads the clock, and a handler's record that comes then is not later than what it says of the packet's end. */
TEST(handlers_during_a_loss)
{
	struct tp_sink *sink = open_sink("packet=64M");

	losing = sink;
	too_long = TP_RECORD_MAX + 1;
	outer = lose_one;
	const unsigned int records = record_with_handlers(sink, 1000);
	char *text = close_and_read(sink);
	ck_assert_uint_eq(count_of(text, "value = "), 1 + handled);
	ck_assert_uint_eq(discarded_in(trace), records - 1);
	free(text);
}

/* test_compilers.py runs what has this fixture, and nothing else. */
static void setup_pairs(void)
{
	setup();
}

FIXTURE(setup_pairs, NULL)

TEST(handlers_after_any_two_instructions)
{
	struct tp_sink *sink = open_sink("packet=64M");
	unsigned int records = record_with_handlers(sink, few_or_many(25, 1));
	unsigned long lost = tp_sink_lost(sink);

	ck_assert_uint_lt(lost, handled / 2); /* while the runtime looks after the packet */
	char *text = close_and_read(sink);
	ck_assert_uint_eq(count_of(text, "value = ") + lost, records + handled);
	free(text);
}

#endif
