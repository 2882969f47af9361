/* SPDX-License-Identifier: MIT */
/*
 * test_ctf_snapshot.c - copies of what a flight recorder holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf_fixture.h"
#include "ctf_packets.h"
#include "base/thread.h"
#include "sample.h"
#include "util.h"

static char copy[160];

static void setup_copy(void)
{
	setup();
	snprintf(copy, sizeof(copy), "%s-copy", trace);
}

static void setup_copy_monotonic(void)
{
	setup_copy();
	setenv("TP_CLOCK", "monotonic", 1);
}

/* A thread that records may stand still for longer than is waited for it. */
static int take_snapshot(struct tp_sink *sink, const char *dir)
{
	int error;

	do
		error = tp_ctf_snapshot(sink, dir);
	while (error == -EBUSY);
	return error;
}

/* What babeltrace2 reads of a new snapshot. The caller frees it. */
static char *text_of_snapshot(struct tp_sink *sink)
{
	int error = take_snapshot(sink, copy);

	ck_assert_msg(error == 0, "tp_ctf_snapshot: %s", strerror(-error));
	return clean_babeltrace(copy);
}

FIXTURE(setup_copy, NULL)

/* ---- What is in it ---- */

TEST(what_has_been_recorded)
{
	struct tp_sink *sink = open_sink("mode=flight,packet=4K,packets=8");

	record(0, 7 * PER_PACKET + 7);
	trace_sample_text("and a text");
	char *text = text_of_snapshot(sink), *all = clean_babeltrace(trace);
	ck_assert_uint_eq(run_of(text, 0).nr, 7 * PER_PACKET + 7);
	ck_assert_str_eq(text, all); /* the times, too */
	/* It is of that moment, whatever becomes of the recorder. */
	record(0, 5000);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *later = clean_babeltrace(copy);
	ck_assert_str_eq(text, later);
	ck_assert_uint_eq(count_files(copy, "."), 2); /* itself and its parent */
	free(all);
	free(text);
	free(later);
}

/* A record on its way is none yet. */
TEST(in_the_middle_of_a_record)
{
	struct tp_sink *sink = open_sink("mode=flight,packet=4K");
	struct tp_record rec;

	record(0, 3);
	int *entry = tp_reserve(&rec, sink, &tp_event_sample_int, 12);
	char *text = text_of_snapshot(sink);
	ck_assert_uint_eq(run_of(text, 0).nr, 3);
	free(text);
	entry[2] = 3;
	tp_commit(&rec);
	strcat(copy, "-2");
	text = text_of_snapshot(sink);
	ck_assert_uint_eq(run_of(text, 0).nr, 4);
	free(text);
	tp_sink_close(sink);
}

LOOP_TEST(the_newest_of_a_ring, 2)
{
	struct tp_sink *sink = open_sink(_i ? "mode=flight,packet=4K,size=32K" : "mode=flight,packet=4K,packets=3");

	record(0, 10007);
	char *text = text_of_snapshot(sink);
	struct run run = run_of(text, 0);
	ck_assert_int_eq(run.last, 10006);
	ck_assert_uint_gt(run.nr, (_i ? 7 : 2) * PER_PACKET);
	ck_assert_lacks(text, "discarded");
	free(text);
	tp_sink_close(sink);
}

AGAIN(setup_copy_monotonic, NULL)

FIXTURE(setup_copy, NULL)

TEST(an_empty_recorder)
{
	struct tp_sink *sink = open_sink("mode=flight");
	struct stat st;

	ck_assert_int_eq(tp_ctf_snapshot(sink, copy), 0);
	ck_assert_uint_eq(count_files(copy, "stream-"), 0);
	ck_assert_uint_eq(count_files(copy, "metadata"), 1);
	ck_assert_int_eq(stat(copy, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	tp_sink_close(sink);
}

TEST(the_format_texts)
{
	char path[256];
	struct tp_sink *sink = open_sink("mode=flight,context=cpu+pid+name");

	trace_sample_int(1);
	char *text = text_of_snapshot(sink);
	ck_assert_contains(text, "procname = \"");
	free(text);
	snprintf(path, sizeof(path), "%s/format/sample", trace);
	char *format = read_file(path);
	snprintf(path, sizeof(path), "%s/format/sample", copy);
	char *copied = read_file(path);
	ck_assert_contains(format, "name: sample_int\n");
	ck_assert_str_eq(format, copied);
	free(format);
	free(copied);
	snprintf(path, sizeof(path), "%s/metadata", copy);
	copied = read_file(path);
	ck_assert_contains(copied, "sample:sample_int");
	free(copied);
	tp_sink_close(sink);
}

TEST(lost_records_are_told_of)
{
	struct tp_sink *sink = open_sink("mode=flight,full=discard,packet=4K,packets=2");

	record(0, 2 * PER_PACKET + 11);
	free(text_of_snapshot(sink));
	ck_assert_uint_eq(discarded_in(copy), 11);
	capture_stderr();
	tp_sink_close(sink);
	free(captured_stderr());
}

/* ---- Threads ---- */

#define NR_THREADS 4

static struct worker {
	pthread_t thread;
	int tid;
	int recorded; /* so many for certain */
	int end, pause;
	pthread_barrier_t *begun; /* where it waits after its first record, if it does */
	char cache_line[64];
} workers[NR_THREADS];

static void *work(void *argument)
{
	struct worker *worker = argument;

	worker->tid = tp_thread_id();
	for (int i = 0; i < worker->end; i++) {
		trace_sample_int(i);
		__atomic_store_n(&worker->recorded, i + 1, __ATOMIC_RELEASE);
		if (i == 0 && worker->begun)
			pthread_barrier_wait(worker->begun);
		if (worker->pause && i % 50 == 49)
			usleep((unsigned int)worker->pause);
	}
	return NULL;
}

static void start(int i, int end, int pause_us)
{
	workers[i].end = end;
	workers[i].pause = pause_us;
	pthread_create(&workers[i].thread, NULL, work, &workers[i]);
}

static void look_at_snapshot(struct tp_sink *sink, unsigned int nr_threads)
{
	int before[NR_THREADS];

	for (unsigned int i = 0; i < nr_threads; i++)
		before[i] = __atomic_load_n(&workers[i].recorded, __ATOMIC_ACQUIRE);
	char *text = text_of_snapshot(sink);
	for (unsigned int i = 0; i < nr_threads; i++) {
		struct run run = run_of(text, workers[i].tid);
		ck_assert_int_ge(before[i] ? run.last + 1 : 0, before[i]);
		ck_assert_int_le(run.last, workers[i].end);
	}
	ck_assert_lacks(text, "discarded");
	free(text);
}

static void look_while_they_record(const char *options, int end, int pause_us, bool all_of_it)
{
	struct tp_sink *sink = open_sink(options);
	size_t len = strlen(copy);
	pthread_barrier_t begun;

	pthread_barrier_init(&begun, NULL, 2); /* none may end, and leave its ring to the other, before both have one */
	for (int i = 0; i < 2; i++) {
		workers[i].begun = &begun;
		start(i, end, pause_us);
		while (!__atomic_load_n(&workers[i].recorded, __ATOMIC_ACQUIRE))
			usleep(100);
	}
	for (int n = 0; n < 5; n++) {
		snprintf(copy + len, sizeof(copy) - len, "-%d", n);
		look_at_snapshot(sink, 2);
		usleep(1000);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(workers[i].thread, NULL);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = clean_babeltrace(trace);
	for (int i = 0; i < 2; i++) {
		struct run run = run_of(text, workers[i].tid);
		ck_assert_int_eq(run.last, end - 1);
		if (all_of_it)
			ck_assert_int_eq(run.first, 0);
	}
	free(text);
}

LOOP_TEST(while_threads_record, 2)
{
	look_while_they_record(_i ? "mode=flight,packet=8K,packets=100,prepare=thread" : "mode=flight,packet=8K,packets=100",
			       10000, 1000, true);
}

LOOP_TEST(while_threads_record_into_small_rings, 2)
{
	look_while_they_record(_i ? "mode=flight,packet=4K,packets=6,prepare=thread" : "mode=flight,packet=4K,packets=6",
			       20000, 300, false);
}

TEST(while_threads_record_at_full_speed)
{
	const int nr = (int)few_or_many(200000, under_sanitizer() ? 200000 : 3000000);

	look_while_they_record("mode=flight,packet=64K,packets=8", nr, 0, false);
}

TEST(exited_and_idle_threads)
{
	struct tp_sink *sink = open_sink("mode=flight,packet=4K,size=256K");

	start(0, 400, 0);
	pthread_join(workers[0].thread, NULL);
	start(1, 300, 0); /* takes its stream */
	pthread_join(workers[1].thread, NULL);
	record(0, 200); /* and so does this one, which is idle then */
	start(2, 3000, 1000);
	while (!__atomic_load_n(&workers[2].recorded, __ATOMIC_ACQUIRE))
		usleep(100);
	look_at_snapshot(sink, 3);
	char *text = clean_babeltrace(copy);
	ck_assert_uint_eq(run_of(text, workers[0].tid).nr, 400);
	ck_assert_uint_eq(run_of(text, workers[1].tid).nr, 300);
	ck_assert_uint_eq(run_of(text, tp_thread_id()).nr, 200);
	free(text);
	pthread_join(workers[2].thread, NULL);
	tp_sink_close(sink);
}

static struct tp_sink *the_sink;
static pthread_barrier_t together;

static void *snapshot_into(void *dir)
{
	pthread_barrier_wait(&together);
	return (void *)(intptr_t)take_snapshot(the_sink, dir);
}

TEST(two_at_once)
{
	char other[200];
	pthread_t thread;
	void *error;

	snprintf(other, sizeof(other), "%s-2", copy);
	the_sink = open_sink("mode=flight,packet=4K,packets=8");
	record(0, 1000);
	pthread_barrier_init(&together, NULL, 2);
	start(0, 5000, 200);
	pthread_create(&thread, NULL, snapshot_into, other);
	ck_assert_ptr_null(snapshot_into(copy));
	pthread_join(thread, &error);
	ck_assert_ptr_null(error);
	pthread_join(workers[0].thread, NULL);
	char *one = clean_babeltrace(copy), *two = clean_babeltrace(other);
	ck_assert_uint_eq(run_of(one, tp_thread_id()).nr, 1000);
	ck_assert_uint_eq(run_of(two, tp_thread_id()).nr, 1000);
	free(one);
	free(two);
	tp_sink_close(the_sink);
}

/* At most one can have it; and if one has, it is whole. */
TEST(two_into_one_directory)
{
	pthread_t thread;
	size_t len = strlen(copy);
	void *error;

	the_sink = open_sink("mode=flight,packet=4K,packets=8");
	record(0, 1000);
	pthread_barrier_init(&together, NULL, 2);
	for (int n = 0, nr = (int)few_or_many(8, 30); n < nr; n++) {
		snprintf(copy + len, sizeof(copy) - len, "-%d", n);
		pthread_create(&thread, NULL, snapshot_into, copy);
		int mine = (int)(intptr_t)snapshot_into(copy);
		pthread_join(thread, &error);
		int its = (int)(intptr_t)error;
		ck_assert_msg(mine || its, "both have succeeded");
		if (mine && its)
			continue;
		ck_assert(mine + its == -EEXIST || mine + its == -ENOTEMPTY);
		char *text = clean_babeltrace(copy);
		ck_assert_uint_eq(run_of(text, 0).nr, 1000);
		free(text);
	}
	tp_sink_close(the_sink);
}

TEST(forked_child)
{
	struct tp_sink *sink = open_sink("mode=flight,packet=4K");
	int status;

	record(0, 100);
	pid_t child = fork();
	if (child == 0) {
		record(0, 50);
		_exit(-tp_ctf_snapshot(sink, copy));
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	char *text = clean_babeltrace(copy); /* of its own */
	ck_assert_uint_eq(run_of(text, child).nr, 50);
	ck_assert_uint_eq(run_of(text, 0).nr, 50);
	free(text);
	strcat(copy, "-2");
	text = text_of_snapshot(sink);
	ck_assert_uint_eq(run_of(text, 0).nr, 100);
	free(text);
	tp_sink_close(sink);
}

/* ---- What can go wrong ---- */

static void make_file(const char *dir, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	close(open(path, O_WRONLY | O_CREAT, 0600));
}

TEST(directories_that_are_refused)
{
	struct tp_sink *sink = open_sink("mode=flight");
	char path[200];

	trace_sample_int(1);
	capture_stderr();
	ck_assert_int_eq(tp_ctf_snapshot(sink, trace), -EEXIST); /* its own */
	ck_assert_int_eq(tp_ctf_snapshot(sink, copy), 0);
	ck_assert_int_eq(tp_ctf_snapshot(sink, copy), -EEXIST);
	snprintf(path, sizeof(path), "%s-other", copy);
	mkdir(path, 0700);
	make_file(path, "notes");
	ck_assert_int_eq(tp_ctf_snapshot(sink, path), -ENOTEMPTY);
	ck_assert_uint_eq(count_files(path, ""), 3);
	snprintf(path, sizeof(path), "%s-hidden", copy);
	mkdir(path, 0700);
	make_file(path, ".hidden"); /* that does not count */
	ck_assert_int_eq(tp_ctf_snapshot(sink, path), 0);
	snprintf(path, sizeof(path), "%s-link", copy);
	ck_assert_int_eq(symlink("trace-copy-hidden", path), 0);
	int error = tp_ctf_snapshot(sink, path);
	ck_assert(error == -ENOTDIR || error == -ELOOP);
	snprintf(path, sizeof(path), "%s-file", copy);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	ck_assert_int_eq(tp_ctf_snapshot(sink, path), -ENOTDIR);
	snprintf(path, sizeof(path), "%s-none/none", copy);
	ck_assert_int_eq(tp_ctf_snapshot(sink, path), -ENOENT);
	ck_assert_int_eq(tp_ctf_snapshot(sink, ""), -ENOENT);
	ck_assert_int_eq(tp_ctf_snapshot(sink, "/proc/none"), -ENOENT);
	char *messages = captured_stderr();
	ck_assert_str_eq(messages, ""); /* it is the caller's to say */
	free(messages);
	ck_assert_int_eq(tp_sink_close(sink), 0);
}

TEST(unwritable)
{
	struct tp_sink *sink = open_sink("mode=flight");
	int status;

	trace_sample_int(1);
	ck_assert_int_eq(mkdir(copy, 0755), 0);
	ck_assert_int_eq(chmod(copy, 0555), 0);
	pid_t child = fork();
	if (child == 0) {
		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(99);
		_exit(-tp_ctf_snapshot(sink, copy));
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(WEXITSTATUS(status), EACCES);
	ck_assert_uint_eq(count_files(copy, ""), 2);
	tp_sink_close(sink);
}

TEST(sinks_that_have_none)
{
	FILE *file = fopen("/dev/null", "we");
	struct tp_sink *text = tp_text_sink(file), *stream = open_sink("mode=stream,size=64K,full=overwrite");

	trace_sample_int(1);
	ck_assert_int_eq(tp_ctf_snapshot(NULL, copy), -EINVAL);
	ck_assert_int_eq(tp_ctf_snapshot(text, copy), -EINVAL);
	ck_assert_int_eq(tp_ctf_snapshot(stream, NULL), -EINVAL);
	ck_assert_int_eq(tp_ctf_snapshot(stream, copy), -ENOTSUP);
	ck_assert_int_ne(access(copy, F_OK), 0);
	tp_sink_close(stream);
	tp_sink_close(text);
	fclose(file);
}

static int error_in_probe;

static void snapshot_in_probe(void *data, int value)
{
	(void)value;
	error_in_probe = tp_ctf_snapshot(data, copy);
}

TEST(inside_a_probe)
{
	struct tp_sink *sink = open_sink("mode=flight");

	register_trace_sample_int(snapshot_in_probe, sink);
	trace_sample_int(1);
	ck_assert_int_eq(error_in_probe, -EDEADLK);
	ck_assert_int_ne(access(copy, F_OK), 0);
	unregister_trace_sample_int(snapshot_in_probe, sink);
	tp_sink_close(sink);
}

/* Nothing of it stays, and it can be tried again. */
static void leaves_nothing(struct tp_sink *sink, int error)
{
	ck_assert_int_eq(error, 0);
	ck_assert_uint_eq(count_files(copy, "stream-"), 0);
	ck_assert_uint_eq(count_files(copy, "metadata"), 0);
	ck_assert_uint_eq(count_files(copy, ".metadata"), 0);
	record(1000, 1010);
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
}

LOOP_TEST(full_disk, 2)
{
	static const char *const sizes[] = {"16k", "28k"}; /* the packets don't fit; the metadata does not */
	struct tp_sink *sink = open_sink("mode=flight,packet=4K,packets=12");
	char command[256];

	record(0, 1000);
	if (!small_disk("full_disk", copy, sizes[_i]))
		return;
	leaves_nothing(sink, tp_ctf_snapshot(sink, copy) + ENOSPC);
	snprintf(command, sizeof(command), "mount -o remount,size=1M %s", copy);
	ck_assert_int_eq(system(command), 0);
	char *text = text_of_snapshot(sink);
	ck_assert_uint_eq(run_of(text, 0).nr, 1010);
	free(text);
	tp_sink_close(sink);
}

/* A file too long would be answered with a signal that ends the program. */
LOOP_TEST(limited_file_size, 3)
{
	static const rlim_t limits[] = {2000, 300, 10}; /* a packet; the metadata; even a head is longer */
	struct tp_sink *sink = open_sink("mode=flight,packet=4K,packets=12");
	const struct rlimit low = {.rlim_cur = limits[_i], .rlim_max = RLIM_INFINITY},
			    high = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	record(0, _i == 1 ? 5 : 500);
	setrlimit(RLIMIT_FSIZE, &low);
	int error = tp_ctf_snapshot(sink, copy);
	setrlimit(RLIMIT_FSIZE, &high);
	leaves_nothing(sink, error + EFBIG);
	free(text_of_snapshot(sink));
	tp_sink_close(sink);
}

TEST(after_descriptors_are_closed)
{
	struct tp_sink *sink = open_sink("mode=flight,packet=4K,packets=3");

	record(0, 100);
	for (int fd = 3; fd < 100; fd++) /* a daemon */
		close(fd);
	record(100, 1000);
	char *text = text_of_snapshot(sink);
	ck_assert_int_eq(run_of(text, 0).last, 999);
	free(text);
	tp_sink_close(sink);
}
