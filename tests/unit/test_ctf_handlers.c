/* SPDX-License-Identifier: MIT */
/*
 * test_ctf_handlers.c - what signal handlers do at any time, and after any instruction of a thread that
 * records: they record, change the packet, fork, and their records fail.
 *
 * After any instruction: by the processor's trap flag, so on x86-64 only.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf_fixture.h"
#include "ctf_packets.h"
#include "record/stream.h"
#include "sample.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/sink.h"
#include "util.h"

static volatile unsigned int handled; /* how often a handler has done its work */

/* ---- At any time ---- */

static void on_alarm(int signal)
{
	int saved = errno;

	(void)signal;
	trace_sample_text("from the handler");
	trace_sample_text("and again");
	handled++;
	errno = saved;
}

/* babeltrace2 refuses a stream whose times go backwards, or an event that is half there. */
static void storm(const char *packet, unsigned int alarms)
{
	struct itimerval often = {.it_interval = {.tv_usec = 50}, .it_value = {.tv_usec = 50}}, never = {.it_value = {0}};
	struct tp_sink *sink = open_sink(packet);
	unsigned int n = 0;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; handled < alarms; n++)
		trace_sample_int((int)n);
	setitimer(ITIMER_REAL, &never, NULL);
	unsigned long lost = tp_sink_lost(sink);
	char *text = close_and_read(sink);
	ck_assert_uint_eq(count_of(text, "value = ") + count_of(text, "text = ") + lost, n + 2 * handled);
	ck_assert_uint_lt(lost, handled);
	free(text);
}

FIXTURE(setup, NULL)

TEST(signal_storm)
{
	storm("packet=64M", few_or_many(300, under_sanitizer() ? 300 : 1500));
}

TEST(signal_storm_in_tiny_packets)
{
	storm("packet=4K", few_or_many(300, under_sanitizer() ? 300 : 2000));
}

#if defined(__x86_64__)

#include "traps.h"

static unsigned long first; /* the instruction behind which it does */

/* ---- Handlers while the packet changes ---- */

static void record_at_first(int signal)
{
	(void)signal;
	if (++steps == first)
		trace_sample_int(2);
}

/* A handler needs the next packet, too: there is one change, and no packet is left as good as empty. */
LOOP_TEST(handlers_that_need_the_same_packet, !under_sanitizer())
{
	struct tp_sink *sink = open_sink("mode=flight,packet=4K,packets=2");
	uint64_t number = 0;

	trace_sample_int(0);
	const struct tp_stream *stream = tp_stream_slots[sink->slot].stream;
	signal(SIGTRAP, record_at_first);
	const unsigned long stride = few_or_many(7, 1);
	for (first = 1, steps = 1; steps >= first && number == stream->packet->packet_seq_num; first += stride) {
		while (number < 2 || nr_in(stream->packet) < PER_PACKET) {
			trace_sample_int(0);
			number = stream->packet->packet_seq_num;
		}
		steps = 0;
		number++;
		traps_on();
		trace_sample_int(1);
		traps_off();
	}
	signal(SIGTRAP, SIG_DFL);
	ck_assert_msg(number == stream->packet->packet_seq_num, "a handler after instruction %lu made another change", first - stride);
	ck_assert_uint_gt(first, 100);
	free(close_and_read(sink));
}

static unsigned int countdown = 97, period = 97; /* in more of them, no record would find the position unchanged */

static void record_now_and_then(int signal)
{
	(void)signal;
	if (--countdown)
		return;
	period = period < 151 ? period + 1 : 97;
	countdown = period;
	trace_sample_int(2);
	handled++;
}

/* A record of its own in one out of so many instructions drifts through all places of the other record's writing. */
LOOP_TEST(interrupted_at_every_instruction, !under_sanitizer())
{
	struct tp_sink *sink = open_sink("packet=4K");
	enum { NR = 150 };

	signal(SIGTRAP, record_now_and_then);
	trace_sample_int(0);
	traps_on();
	for (int i = 0; i < NR; i++)
		trace_sample_int(1);
	traps_off();
	signal(SIGTRAP, SIG_DFL);
	unsigned long lost = tp_sink_lost(sink);
	char *text = close_and_read(sink);
	ck_assert_uint_eq(count_of(text, "value = ") + lost, 1 + NR + handled);
	ck_assert_uint_gt(handled, NR / 2);
	ck_assert_uint_lt(lost, handled); /* in the change of a packet */
	free(text);
}

/*
 * Each record is so long that the packet has room for no other of its kind, but for those of
 * handlers, which come all the time while it changes. What they lose there is told of in the packets.
 * A sanitizer makes half a million instructions of a new file: before a commit, without that.
 */
LOOP_TEST(handlers_in_the_change_of_a_packet, under_sanitizer() ? few_or_many(1, 2) : 2)
{
	const bool ring = _i == 0;
	const unsigned int nr = under_sanitizer() ? (ring ? 30 : 4) : ring ? few_or_many(15, 300) : few_or_many(5, 20);
	struct tp_sink *sink = open_sink(ring ? "mode=flight,packet=4K,packets=2" : "packet=4K");
	static char text[3000];

	memset(text, 'x', sizeof(text) - 1);
	signal(SIGTRAP, record_now_and_then);
	trace_sample_text(text);
	traps_on();
	for (unsigned int i = 1; i < nr; i++)
		trace_sample_text(text);
	traps_off();
	signal(SIGTRAP, SIG_DFL);
	unsigned long lost = tp_sink_lost(sink);
	char *content = close_and_read(sink);
	ck_assert_uint_gt(lost, ring ? nr / 2 : nr); /* or handlers did not come then */
	const unsigned int found = count_of(content, "value = 2 ") + count_of(content, "text = \"xxx");
	if (ring) /* of a sanitizer's many instructions, handlers may fill one of the two packets by themselves */
		ck_assert_uint_ge(under_sanitizer() ? found : count_of(content, "text = \"xxx"), 2);
	else
		ck_assert_uint_eq(found + lost, nr + handled);
	ck_assert_uint_eq(discarded_in(trace), lost);
	free(content);
}

/* ---- Handlers whose records can't be copied into the file ---- */

static struct tp_ctf_sink *copying;

static void fail_at_first(int signal)
{
	struct tp_ctf_packet *packet = ((struct tp_ctf_stream *)tp_stream_slots[copying->slot].stream)->packet;
	struct tp_packet *const file = packet->file;

	(void)signal;
	if (++steps != first)
		return;
	packet->file = (struct tp_packet *)4096; /* nothing is there */
	trace_sample_int(2);
	packet->file = file;
	handled++;
}

/* What has been copied is not taken back, and what was taken back is not copied. */
LOOP_TEST(handlers_that_fail, !under_sanitizer())
{
	struct tp_sink *sink = open_sink("packet=4K,write=call");
	const unsigned long stride = few_or_many(7, 1);
	unsigned int records = 1;

	copying = tp_ctf_sink_of(sink);
	trace_sample_int(1);
	capture_stderr();
	signal(SIGTRAP, fail_at_first);
	for (first = 1, steps = 1; steps >= first; first += stride) {
		copying->retry_at = 0; /* another packet is tried for at once */
		trace_sample_int(1);
		steps = 0;
		traps_on();
		trace_sample_int(1);
		traps_off();
		records += 2;
	}
	signal(SIGTRAP, SIG_DFL);
	const unsigned long lost = tp_sink_lost(sink);
	tp_sink_close(sink);
	free(captured_stderr());
	ck_assert_uint_gt(handled, 100 / stride);
	ck_assert_uint_gt(lost, handled / 2);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = ") + lost, records + handled);
	ck_assert_uint_eq(discarded_in(trace), lost);
	free(text);
}

/* ---- Handlers that fork after any instruction ---- */

/* In a child: it has forked. No signal but the trap comes while the runtime holds a lock, so no other handler would fork there. */
static void fork_at_first(int signal, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	int status;

	(void)signal, (void)info;
	if (++steps < first || sigismember(&interrupted->uc_sigmask, SIGUSR1))
		return;
	interrupted->uc_mcontext.gregs[REG_EFL] &= ~0x100;
	pid_t child = fork();
	handled++;
	if (child == 0) {
		if (handled % 2)
			trace_sample_int(-1);
		return;
	}
	waitpid(child, &status, 0);
	if (status) fprintf(stderr, "status %x at %lu\n", status, steps);
	must(status == 0, "a child that loses nothing, and closes its trace");
}

/* False where the record was through before that. */
static bool record_and_fork(unsigned long at)
{
	const unsigned int before = handled;

	first = at;
	steps = 0;
	traps_on();
	trace_sample_int(1);
	traps_off();
	return handled != before;
}

/* The record needs the next packet. What the child makes from there on has names of its own, and is closed with its sink. */
LOOP_TEST(handlers_that_fork, 2)
{
	struct tp_sink *sink = open_sink(_i == 1 ? "mode=flight,packet=4K,packets=2" : "packet=4K");
	const struct sigaction action = {.sa_sigaction = fork_at_first, .sa_flags = SA_SIGINFO};
	const unsigned long stride = under_sanitizer() ? few_or_many(100, 25) : few_or_many(23, 1);
	const unsigned int of_a_child = 10;
	const pid_t parent = getpid();
	size_t nr;

	for (int i = 0; i < 3 * PER_PACKET; i++)
		trace_sample_int(0);
	sigaction(SIGTRAP, &action, NULL);
	for (unsigned long at = 1; record_and_fork(at) && !wrong; at = steps + stride) {
		if (getpid() == parent) {
			record(1, PER_PACKET);
			continue;
		}
		for (unsigned int i = 0; i < of_a_child; i++)
			trace_sample_int(-2);
		_exit(tp_sink_lost(sink) || tp_sink_close(sink) != 0);
	}
	signal(SIGTRAP, SIG_DFL);
	ck_assert_msg(!wrong, "a handler that forks after instruction %lu: not %s", wrong_step, wrong);
	close_saying(sink, NULL, 0);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = -2 "), handled * of_a_child);
	free(text);
	const struct packet_file *packets = packets_of(trace, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (packets[i].pid != parent && (i == 0 || packets[i].pid != packets[i - 1].pid))
			ck_assert_uint_eq(packets[i].head.packet_seq_num, 0);
	}
	ck_assert_uint_gt(handled, (under_sanitizer() ? 1250 : 50) / stride);
}

#endif
