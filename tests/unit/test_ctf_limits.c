/* SPDX-License-Identifier: MIT */
/*
 * test_ctf_limits.c - the limits of a CTF trace: which records it keeps, in
 * a flight recorder and elsewhere, and how those that it does not are counted.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf_fixture.h"
#include "ctf_packets.h"
#include "base/guard.h"
#include "base/thread.h"
#include "sample.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/sink.h"
#include "util.h"

#include "../tasks.h"

/* Where a thread prepares packets, most is the same. */
static unsigned int prepared; /* 1: there may be a packet ahead of need */

static void setup_prepared(void)
{
	setup();
	prepared = 1;
}

static struct tp_sink *open_with(const char *options)
{
	char all[128];

	snprintf(all, sizeof(all), "%s%s", options, prepared ? ",prepare=thread" : "");
	return open_sink(all);
}

static unsigned int count_all_files(void)
{
	return count_files(trace, "stream-") + count_files(trace, ".stream-");
}

/* ---- The newest are kept ---- */

FIXTURE(setup, NULL)

LOOP_TEST(ring_of_a_thread, 3)
{
	static const unsigned int rings[] = {2, 3, 7};
	const unsigned int ring = rings[_i];
	enum { NR = 10000 };
	char options[64];
	size_t nr;

	snprintf(options, sizeof(options), "mode=flight,packet=4K,packets=%u", ring);
	struct tp_sink *sink = open_with(options);
	for (int i = 0; i < NR; i += 1000) {
		record(i, i + 1000);
		ck_assert_uint_le(count_all_files(), ring + prepared); /* where that one is not there in time */
	}
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	close_saying(sink, NULL, 0);
	const struct packet_file *packets = packets_of(trace, &nr);
	ck_assert_uint_ge(nr, ring - prepared); /* the prepared one goes at the end */
	ck_assert_uint_le(nr, ring);
	ck_assert_uint_eq(packets[nr - 1].head.packet_seq_num, (NR + PER_PACKET - 1) / PER_PACKET - 1);
	char *text = clean_babeltrace(trace);
	struct run run = run_of(text, 0);
	ck_assert_int_eq(run.last, NR - 1);
	ck_assert_uint_gt(run.nr, (ring - 1 - prepared) * PER_PACKET);
	ck_assert_lacks(text, "discarded");
	free(text);
}

/* What a child's threads have recorded for certain, as they say in memory that outlives it. */
struct witness {
	int tid, committed;
};

static struct witness *witnesses;
static pthread_barrier_t both_have_streams;

static void *certain(void *slot)
{
	struct witness *witness = witnesses + (uintptr_t)slot * 8; /* not in one cache line */

	witness->tid = tp_thread_id();
	trace_sample_int(0);
	pthread_barrier_wait(&both_have_streams); /* or the second might take that of the first, and overwrite it */
	for (int i = 1; i <= 50000; i++) {
		trace_sample_int(i);
		__atomic_store_n(&witness->committed, i, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void dies(bool by_signal)
{
	pthread_t threads[2];

	open_with("mode=flight,packet=4K,packets=4");
	pthread_barrier_init(&both_have_streams, NULL, 2);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, certain, (void *)i);
	if (by_signal)
		pause();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

LOOP_TEST(ring_after_sudden_death, 4)
{
	witnesses = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	if (child == 0)
		dies(_i > 0);
	if (_i > 0) {
		while (__atomic_load_n(&witnesses[0].committed, __ATOMIC_ACQUIRE) < 2000 ||
		       __atomic_load_n(&witnesses[8].committed, __ATOMIC_ACQUIRE) < 2000)
			usleep(100);
		usleep((unsigned int)_i * 200);
		kill(child, SIGKILL);
	}
	waitpid(child, NULL, 0);
	ck_assert_uint_le(count_all_files(), 2 * (4 + prepared));
	char *text = clean_babeltrace(trace);
	for (int i = 0; i < 2; i++) {
		struct run run = run_of(text, witnesses[8 * i].tid);
		ck_assert_int_ge(run.last, witnesses[8 * i].committed);
		/* One may be just on its way from oldest to newest. */
		ck_assert_uint_gt(run.nr, (prepared ? 1 : 2) * PER_PACKET);
	}
	ck_assert_lacks(text, "discarded");
	free(text);
}

LOOP_TEST(stream_that_overwrites, 3)
{
	static const char *const options[] = {"full=overwrite,packet=4K,size=64K", "full=overwrite,packet=4K,packets=16",
					      "full=overwrite,packet=4K,size=65K,packets=20"};
	struct tp_sink *sink = open_with(options[_i]);
	enum { NR = 10000 };

	for (int i = 0; i < NR; i += 1000) {
		record(i, i + 1000);
		ck_assert_uint_le(bytes_in(trace), (65 + prepared * 4) << 10);
		ck_assert_uint_le(count_all_files(), 16 + prepared);
	}
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	close_saying(sink, NULL, 0);
	char *text = clean_babeltrace(trace);
	struct run run = run_of(text, 0);
	ck_assert_int_eq(run.last, NR - 1);
	ck_assert_uint_gt(run.nr, (prepared ? 13 : 15) * PER_PACKET);
	ck_assert_lacks(text, "discarded");
	free(text);
}

/* ---- Threads ---- */

static void *records_five(void *unused)
{
	(void)unused;
	record(0, 5);
	return (void *)(intptr_t)tp_thread_id();
}

LOOP_TEST(streams_are_handed_on, 3)
{
	static const char *const options[] = {"packet=4K", "mode=flight,packet=4K,packets=20",
					      "mode=flight,packet=4K,size=80K"};
	struct tp_sink *sink = open_with(options[_i]);
	enum { NR = 50 };
	int tids[NR];
	size_t nr;

	for (int i = 0; i < NR; i++) {
		pthread_t thread;
		void *tid;
		pthread_create(&thread, NULL, records_five, NULL);
		pthread_join(thread, &tid);
		tids[i] = (int)(intptr_t)tid;
	}
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	close_saying(sink, NULL, 0);
	const struct packet_file *packets = packets_of(trace, &nr);
	ck_assert_uint_eq(nr, (NR * 5 + PER_PACKET - 1) / PER_PACKET);
	ck_assert_uint_eq(packets[nr - 1].number, 0);
	char *text = clean_babeltrace(trace);
	for (int i = 0; i < NR; i++)
		ck_assert_uint_eq(run_of(text, tids[i]).nr, 5);
	free(text);
}

AGAIN(setup_prepared, NULL)

/* ---- The thread that prepares packets ---- */

static bool has_preparer(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	bool has = false;

	ck_assert_ptr_nonnull(tasks);
	while ((entry = readdir(tasks)))
		has = has || (task_is_called(entry->d_name, "tp-helper") && !task_is_ending(entry->d_name));
	closedir(tasks);
	return has;
}

TEST(preparer_lives_as_long_as_the_sink)
{
	for (int i = 0; i < 3; i++) {
		snprintf(trace + strlen(trace), 8, "-%d", i);
		struct tp_sink *sink = open_with("packet=4K");
		while (!has_preparer()) /* it takes its name itself */
			usleep(1000);
		record(0, i * 500); /* of the first, nothing */
		ck_assert_int_eq(tp_sink_close(sink), 0);
		ck_assert(!has_preparer());
		ck_assert_uint_eq(count_files(trace, ".stream-"), 0);
		char *text = clean_babeltrace(trace);
		ck_assert_uint_eq(run_of(text, 0).nr, (unsigned int)i * 500);
		free(text);
	}
}

LOOP_TEST(children_have_no_preparer, 2)
{
	struct tp_sink *sink = open_with(_i ? "mode=flight,packet=4K,packets=16" : "packet=4K");
	pid_t children[4];
	int status;

	for (int c = 0; c < 4; c++) {
		record(c * 500, (c + 1) * 500);
		children[c] = fork();
		if (children[c] == 0) {
			alarm(600);
			record(0, 2000);
			if (tp_sink_lost(sink) || has_preparer())
				_exit(1);
			_exit(-tp_sink_close(sink));
		}
	}
	for (int c = 0; c < 4; c++) {
		waitpid(children[c], &status, 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	close_saying(sink, NULL, 0);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(run_of(text, getpid()).nr, 2000);
	for (int c = 0; c < 4; c++)
		ck_assert_uint_eq(run_of(text, children[c]).nr, 2000);
	free(text);
}

/* ---- The oldest are kept ---- */

FIXTURE(setup, NULL)

static const struct {
	const char *options;
	int packets;
} discarding[] = {
	{"packet=4K,size=64K", 16},
	{"packet=4K,packets=16", 16},
	{"packet=4K,packets=16,size=32K", 8},
	{"mode=flight,full=discard,packet=4K,size=64K", 16},
	{"mode=flight,full=discard,packet=4K,packets=2", 2},
};

LOOP_TEST(new_records_are_lost, NR_OF(discarding))
{
	struct tp_sink *sink = open_sink(discarding[_i].options);
	const int kept = discarding[_i].packets * PER_PACKET, nr = 6000;
	char losses[64];

	record(0, nr);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_LIMIT), (unsigned int)(nr - kept));
	ck_assert_uint_eq(tp_sink_lost(sink), (unsigned int)(nr - kept));
	ck_assert_uint_eq(bytes_in(trace), (unsigned int)discarding[_i].packets * 4096);
	snprintf(losses, sizeof(losses), "%d (limit: %d)", nr - kept, nr - kept);
	close_saying(sink, losses, 0);
	ck_assert_uint_eq(discarded_in(trace), (unsigned int)(nr - kept));
	char *text = clean_babeltrace(trace);
	struct run run = run_of(text, 0);
	ck_assert_int_eq(run.first, 0);
	ck_assert_uint_eq(run.nr, (unsigned int)kept);
	ck_assert_contains(text, "discarded");
	free(text);
}

/* By another clock, another way takes the record. */
AGAIN(setup_monotonic, NULL)

FIXTURE(setup, NULL)

/* What a packet did not need counts as free again. */
TEST(a_short_rest_needs_little_room)
{
	struct tp_sink *sink = open_sink("packet=64K,size=164K");
	char *string = malloc(33000);

	memset(string, 'x', 33000);
	string[32999] = '\0';
	for (int i = 0; i < 4; i++) /* one a packet, of which 36K are left on disk */
		trace_sample_text(string);
	ck_assert_uint_eq(tp_sink_lost(sink), 1);
	close_saying(sink, "1 (limit: 1)", 0);
	free(string);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "text = "), 3);
	free(text);
}

/* ---- Many threads ---- */

static const char *const overwriting[] = {"mode=flight,packet=4K,size=64K", "full=overwrite,packet=4K,size=64K"};

static void *records_as_many_packets(void *packets)
{
	record(0, (int)(uintptr_t)packets * PER_PACKET);
	return (void *)(intptr_t)tp_thread_id();
}

/* The oldest packet goes, whose it may be; or the thread's own oldest, where it has its share. */
LOOP_TEST(size_is_for_all_threads, 2)
{
	struct tp_sink *sink = open_sink(overwriting[_i]);
	pthread_t thread;
	void *tid;

	record(0, 16 * PER_PACKET);
	ck_assert_uint_eq(bytes_in(trace), 64 << 10);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(run_of(text, 0).nr, 16 * PER_PACKET);
	free(text);
	pthread_create(&thread, NULL, records_as_many_packets, (void *)(uintptr_t)5);
	pthread_join(thread, &tid);
	ck_assert_uint_eq(bytes_in(trace), 64 << 10);
	text = clean_babeltrace(trace);
	struct run mine = run_of(text, tp_thread_id()), its = run_of(text, (int)(intptr_t)tid);
	ck_assert_uint_eq(mine.nr, 11 * PER_PACKET);
	ck_assert_int_eq(mine.last, 16 * PER_PACKET - 1);
	ck_assert_uint_eq(its.nr, 5 * PER_PACKET);
	free(text);
	/* No more than half of them. */
	pthread_create(&thread, NULL, records_as_many_packets, (void *)(uintptr_t)40);
	pthread_join(thread, &tid);
	ck_assert_uint_le(bytes_in(trace), 64 << 10);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	close_saying(sink, NULL, 0);
	text = clean_babeltrace(trace);
	mine = run_of(text, tp_thread_id());
	its = run_of(text, (int)(intptr_t)tid);
	ck_assert_uint_eq(mine.nr, 8 * PER_PACKET);
	ck_assert_int_eq(mine.last, 16 * PER_PACKET - 1);
	ck_assert_uint_ge(its.nr, 7 * PER_PACKET);
	ck_assert_int_eq(its.last, 40 * PER_PACKET - 1);
	free(text);
}

static void *records_one_and_waits(void *barrier)
{
	trace_sample_int(-1);
	pthread_barrier_wait(barrier); /* all have one */
	pthread_barrier_wait(barrier); /* the other is done */
	return NULL;
}

/* Whoever has a packet goes on in it, however many others only hold theirs. */
LOOP_TEST(packets_of_idle_threads, 2)
{
	enum { IDLE = 15, ALL = 16, NR = 30 * PER_PACKET };
	struct tp_sink *sink = open_sink(overwriting[_i]);
	pthread_t threads[IDLE];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, ALL);
	for (int i = 0; i < IDLE; i++)
		pthread_create(&threads[i], NULL, records_one_and_waits, &barrier);
	pthread_barrier_wait(&barrier);
	record(0, NR);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < IDLE; i++)
		pthread_join(threads[i], NULL);
	close_saying(sink, NULL, 0);
	char *text = clean_babeltrace(trace);
	ck_assert_int_eq(run_of(text, tp_thread_id()).last, NR - 1);
	ck_assert_uint_eq(count_of(text, "value = -1 "), IDLE);
	free(text);
}

/* It goes round in the packets that it could make. */
TEST(flight_on_a_full_disk)
{
	enum { NR = 300 * PER_PACKET };

	if (!small_disk("flight_on_a_full_disk", trace, "128k"))
		return;
	capture_stderr();
	struct tp_sink *sink = open_sink("mode=flight,packet=4K,packets=100");
	record(0, NR);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	ck_assert_int_eq(tp_sink_close(sink), -ENOSPC);
	char *messages = captured_stderr();
	ck_assert_contains(messages, "No space left on device");
	ck_assert_uint_eq(count_of(messages, "\n"), 1);
	free(messages);
	char *text = clean_babeltrace(trace);
	struct run run = run_of(text, 0);
	ck_assert_int_eq(run.last, NR - 1);
	ck_assert_uint_gt(run.nr, 5 * PER_PACKET);
	free(text);
}

static pthread_barrier_t all_have_recorded;

static void *records_ten(void *unused)
{
	record(0, 10);
	pthread_barrier_wait(&all_have_recorded); /* while it lives, nobody gets its stream */
	return unused;
}

LOOP_TEST(more_threads_than_packets, 3)
{
	static const char *const options[] = {"mode=flight,packet=4K,size=16K", "full=overwrite,packet=4K,size=16K",
					      "packet=4K,size=16K"};
	struct tp_sink *sink = open_sink(options[_i]);
	pthread_t threads[8];

	pthread_barrier_init(&all_have_recorded, NULL, 8);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, records_ten, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_LIMIT), 40);
	ck_assert_uint_eq(count_all_files(), 4);
	/* Those have packets now that the threads have left. */
	record(0, 10);
	ck_assert_uint_eq(tp_sink_lost(sink), 40);
	close_saying(sink, "40 (limit: 40)", 0);
	ck_assert_uint_eq(discarded_in(trace), 40); /* in the packets of others */
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = "), 50);
	free(text);
}
