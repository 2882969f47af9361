/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/sink.c - the Perfetto sink: a file that is written where it is read, and is a valid Perfetto trace at every
 * instant, also after kill -9.
 *
 * The file is mapped, and each thread that records has a chunk of it, in which it writes packets of a sequence of its own: no
 * lock, no system call and no allocation but for a new chunk. A packet appears by one store. Until then, what is there is a field
 * that readers skip: stream.c. file.c has the file, which parent and child may share. A record becomes a TrackEvent when it is
 * committed, by the code with which tp convert writes such a file of a trace: track_event.c.
 *
 * Times are CLOCK_MONOTONIC. The file's first packet says what CLOCK_REALTIME and CLOCK_BOOTTIME were at one instant, so
 * that the file agrees with other traces, the kernel's and those of other machines.
 *
 * Here is what is done once a sink: opening, closing, forks. sink.h says where the rest is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/guard.h"
#include "base/message.h"
#include "base/text.h"
#include "record/record.h"
#include "sinks/perfetto/file.h"
#include "sinks/perfetto/perfetto.h"
#include "sinks/perfetto/record.h"
#include "sinks/perfetto/stream.h"

#define PLANS_SIZE (TP_NR_IDS * sizeof(struct tp_track_plan *))

/* ---- Events ---- */

/* A second module may bring the event: its layout, to which the id belongs, is the same. */
static int perfetto_describe_event(struct tp_sink *head, const struct tp_event *event)
{
	struct tp_perfetto_sink *sink = (struct tp_perfetto_sink *)head;
	const struct tracepoint *tp = event->tracepoint;

	if (sink->plans[event->id])
		return 0;
	struct tp_track_plan *plan = tp_track_plan_new(event, tp ? tp->file : NULL, tp ? tp->line : 0, &sink->next_iid);
	if (!plan)
		return -ENOMEM;
	plan->next = sink->all_plans;
	sink->all_plans = plan;
	__atomic_store_n(&sink->plans[event->id], plan, __ATOMIC_RELEASE);
	return 0;
}

static void plans_free(struct tp_perfetto_sink *sink)
{
	struct tp_track_plan *next;

	for (struct tp_track_plan *plan = sink->all_plans; plan; plan = next) {
		next = plan->next;
		tp_track_plan_free(plan);
	}
	if (sink->plans)
		munmap(sink->plans, PLANS_SIZE);
}

/* ---- Forks and closing ---- */

static void perfetto_after_fork_child(struct tp_sink *head)
{
	struct tp_perfetto_sink *sink = (struct tp_perfetto_sink *)head;

	tp_perfetto_streams_forget(sink);
	sink->pid = getpid();
	sink->error = 0;
	sink->complained = false;
	if (!tp_perfetto_file_inherit(sink))
		tp_tracing_off(head);
}

static void sink_free(struct tp_perfetto_sink *sink)
{
	plans_free(sink);
	tp_perfetto_file_close(sink);
	free(sink);
}

static int perfetto_close(struct tp_sink *head)
{
	struct tp_perfetto_sink *sink = (struct tp_perfetto_sink *)head;
	const int error = -sink->error;

	tp_perfetto_streams_end(sink);
	tp_sink_tell_lost(head);
	sink_free(sink);
	return error;
}

static const struct tp_sink_ops perfetto_ops = {
	.name = "Perfetto",
	.reserve = tp_perfetto_reserve,
	.lost = tp_perfetto_lost,
	.commit = tp_perfetto_commit,
	.describe_event = perfetto_describe_event,
	.after_fork_child = perfetto_after_fork_child,
	.close = perfetto_close,
};

/* ---- Opening ---- */

static bool has_no_options(const char *name, const char *options)
{
	if (options && *options)
		tp_complain("Perfetto output '%s': it has no options, and '%s' is none; ctf has options; nothing goes there", name, options);
	return !options || !*options;
}

static bool plans_begin(struct tp_perfetto_sink *sink)
{
	void *plans = mmap(NULL, PLANS_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	sink->plans = plans == MAP_FAILED ? NULL : plans;
	return sink->plans != NULL;
}

static int make_file(struct tp_perfetto_sink *sink)
{
	struct tp_guard guard;

	tp_guard_enter(&guard);
	const int error = tp_perfetto_file_make(sink);
	tp_guard_leave(&guard);
	return error;
}

/* fd is -1, or the file. */
static int sink_open(struct tp_perfetto_sink *sink, int fd, const char *name)
{
	const ssize_t len = readlink("/proc/self/exe", sink->program, sizeof(sink->program) - 1);
	int error = fd < 0 ? tp_perfetto_file_begin(sink, name) : tp_perfetto_file_begin_in(sink, fd, name);

	sink->program[len > 0 ? len : 0] = '\0';
	if (error)
		return error;
	if (!plans_begin(sink))
		return ENOMEM;
	if (!tp_perfetto_streams_begin(sink))
		return EMFILE;
	error = make_file(sink);
	if (!error)
		error = -tp_sink_open(&sink->head, &perfetto_ops);
	if (error)
		tp_perfetto_streams_end(sink);
	else
		sink->head.reserved[3] = sink->file.path;
	return error;
}

static struct tp_sink *sink_new(int fd, const char *name)
{
	struct tp_perfetto_sink *sink = tp_malloc(sizeof(*sink));

	if (!sink) {
		if (fd >= 0)
			close(fd);
		errno = ENOMEM;
		return NULL;
	}
	*sink = (struct tp_perfetto_sink){
		.pid = getpid(), .next_iid = TP_FIRST_EVENT_IID, .file = {.fd = TP_GUARDED_FD_NONE}, .clock = {.counter = false},
	};
	const int error = sink_open(sink, fd, name);
	if (!error)
		return &sink->head;
	sink_free(sink);
	errno = error;
	return NULL;
}

struct tp_sink *tp_perfetto_sink(const char *file, const char *options)
{
	if (file && *file && has_no_options(file, options))
		return sink_new(-1, file);
	errno = EINVAL;
	return NULL;
}

struct tp_sink *tp_perfetto_sink_in(int fd, const char *name)
{
	return sink_new(fd, name);
}
