/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/sink.c - the CTF sink: a trace that is written where it is read.
 *
 * Each thread that records has a stream of its own. A stream's packets are
 * files of one packet each, mapped while they are written. A file appears
 * under its name when its head is complete, and each event is taken into its
 * content by a single store, so that whoever reads the directory, at any
 * moment, finds a valid trace.
 *
 * Here is what is done once a sink: opening, closing. ctf.h says where the rest is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/fork.h"
#include "base/guard.h"
#include "base/mapped_file.h"
#include "base/message.h"
#include "base/text.h"
#include "sinks/ctf/ctf.h"
#include "sinks/ctf/describe/describe.h"
#include "sinks/ctf/describe/format.h"
#include "sinks/ctf/describe/log.h"
#include "sinks/ctf/describe/metadata.h"
#include "sinks/ctf/dir/begin.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/options.h"
#include "sinks/ctf/ring/memory.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/preparer.h"
#include "sinks/ctf/ring/record.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/ring/watch.h"
#include "sinks/ctf/sink.h"

/* ---- Forks and closing ---- */

static void ctf_after_fork_child(struct tp_sink *head)
{
	struct tp_ctf_sink *sink = (struct tp_ctf_sink *)head;

	sink->pid = getpid();
	sink->forked = true;
	tp_ctf_dirs_forget(sink);
	tp_ctf_begin_anew(sink);
	tp_ctf_streams_forget(sink);
	tp_ctf_choose_way(sink);
}

static void sink_free(struct tp_ctf_sink *sink)
{
	tp_ctf_watch_stop(sink);
	tp_ctf_spare_close(sink);
	tp_ctf_dir_close(sink);
	tp_ctf_descriptions_free(sink);
	tp_buffer_free(&sink->events.metadata);
	tp_ctf_format_free(&sink->events.formats);
	free(sink->events.so_far.text);
	tp_guarded_fd_close(&sink->parent);
	free(sink->parent_path);
	free(sink->pattern);
	free(sink->path);
	free(sink);
}

static int ctf_close(struct tp_sink *head)
{
	struct tp_ctf_sink *sink = (struct tp_ctf_sink *)head;
	struct tp_guard guard;

	tp_ctf_preparer_stop(sink);
	tp_guard_enter(&guard);
	tp_ctf_describe_better(sink);
	tp_guard_leave(&guard);
	tp_sink_tell_lost(head);
	tp_ctf_log_end(sink);
	tp_ctf_streams_end(sink); /* from here on another sink may have its slot */
	/*
	 * Threads that remove old chapters at the same time take each other's locks for those of a process that still
	 * writes, and may leave one too many. The next chapter makes up for that; after the last one, this does.
	 */
	if (tp_ctf_key(sink) != sink->first_key && !sink->forked && tp_guard_enter(&guard)) {
		tp_ctf_begin_tidy(sink);
		tp_guard_leave(&guard);
	}
	int error = -sink->error;
	sink_free(sink);
	return error;
}

/* Where root's directory is to be another's who could not make it, it is there at once. */
static int ctf_write_descriptions(struct tp_sink *head)
{
	struct tp_ctf_sink *sink = (struct tp_ctf_sink *)head;
	struct tp_guard guard;
	int error = -tp_ctf_write_descriptions(head);

	if (error || !sink->at_once || !tp_guard_enter(&guard))
		return -error;
	tp_ctf_begin(sink, sink->dirs, &error);
	tp_guard_leave(&guard);
	sink->at_once = false;
	return -error;
}

static const struct tp_sink_ops ctf_ops = {
	.name = "CTF",
	.reserve = tp_ctf_reserve,
	.commit = tp_ctf_commit,
	.lost = tp_ctf_lost,
	.describe_event = tp_ctf_describe_event,
	.write_descriptions = ctf_write_descriptions,
	.after_fork_child = ctf_after_fork_child,
	.close = ctf_close,
};

struct tp_ctf_sink *tp_ctf_sink_of(struct tp_sink *head)
{
	return head && head->ops == &ctf_ops ? (struct tp_ctf_sink *)head : NULL;
}

/* ---- Opening ---- */

/*
 * How many bytes of context stand between an event's time and its record: the
 * event's id, alone in the first 8, and what is asked for.
 */
static size_t context_size(unsigned int context)
{
	size_t size = TP_STREAM_ALIGN;

	if (!context)
		return 0;
	if (context & TP_CTF_CPU)
		size += sizeof(int32_t);
	if (context & TP_CTF_PID)
		size += sizeof(int32_t);
	if (context & TP_CTF_NAME)
		size += TP_CTF_NAME_SIZE;
	return (size + TP_STREAM_ALIGN - 1) & ~(size_t)(TP_STREAM_ALIGN - 1);
}

/* All of these are about what is beside the directory, or about root's own. */
static bool are_for_a_passed_one(const struct tp_ctf_options *options, const char *name)
{
	const bool good = !options->rotate && options->keep == UINT64_MAX && !options->owner.set;

	if (!good)
		tp_complain("CTF trace '%s': rotate=, keep= and owner= are for a trace that the process opens by its name, and not "
			    "for a directory that was passed to it; there is no trace",
			    name);
	return good;
}

/* passed: the directory's descriptor; -1 where the trace has a path. */
static int begin(struct tp_ctf_sink *sink, int passed, const char *options)
{
	const bool good = tp_ctf_options_parse(&sink->options, options, sink->path);

	if (passed >= 0 && good && are_for_a_passed_one(&sink->options, sink->path))
		return tp_ctf_begin_in(sink, passed);
	if (passed >= 0)
		close(passed);
	if (passed >= 0 || !good)
		return EINVAL;
	if (sink->options.rotate && !tp_ctf_begin_chapters(sink))
		return ENOMEM;
	return sink->pattern ? tp_ctf_begin_later(sink) : tp_ctf_begin_now(sink);
}

static int sink_open(struct tp_ctf_sink *sink, int passed, const char *options)
{
	int error = begin(sink, passed, options);

	if (error)
		return error;
	sink->context_size = context_size(sink->options.context);
	sink->copies = sink->options.write == TP_CTF_WRITE_CALL;
	if (sink->options.write == TP_CTF_WRITE_BY_FILE_SYSTEM &&
	    tp_mapped_must_be_copied(tp_guarded_fd_descriptor(sink->pattern ? &sink->parent : &sink->dirs->fd))) {
		sink->copies = true;
		tp_complain("CTF trace '%s': a system call copies each record, as a store to a file of this file system may end the "
			    "program when the disk is full; ext4, XFS and tmpfs need no call, and write=call says that one is wanted",
			    sink->path);
	}
	sink->renews = sink->options.flight && sink->options.overwrite && !sink->copies && tp_ctf_packet_can_renew();
	sink->created = time(NULL);
	tp_clock_open(&sink->clock);
	tp_ctf_describe_begin(sink);
	if (sink->events.metadata.failed)
		return ENOMEM;
	if (!tp_ctf_streams_begin(sink))
		return EMFILE;
	error = -tp_sink_open(&sink->head, &ctf_ops);
	if (error) {
		tp_ctf_streams_end(sink);
		return error;
	}
	sink->head.reserved[3] = sink->path;
	tp_ctf_log_begin(sink);
	tp_ctf_preparer_start(sink);
	return 0;
}

/* What other threads of the parent's were writing is not the child's, whether it has a sink or not. */
static void in_child(void)
{
	tp_ctf_log_forget();
	tp_ctf_files_forget();
}

static void start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_CTF, .in_child = in_child};

	tp_fork_register(&hook);
}

/* Without its path. NULL: no memory. */
static struct tp_ctf_sink *sink_new(void)
{
	struct tp_ctf_sink *sink = tp_malloc(sizeof(*sink));

	if (!sink)
		return NULL;
	*sink = (struct tp_ctf_sink){
		.dirs = &sink->first_dir,
		.first_dir = {.fd = TP_GUARDED_FD_NONE, .users = 1},
		.parent = TP_GUARDED_FD_NONE,
		.spare = {TP_GUARDED_FD_NONE, TP_GUARDED_FD_NONE, TP_GUARDED_FD_NONE},
		.ring.watch = TP_GUARDED_FD_NONE,
		.pid = getpid(),
	};
	sink->events.formats.sink = sink;
	start();
	return sink;
}

static struct tp_sink *opened(struct tp_ctf_sink *sink, int error)
{
	if (!error)
		return &sink->head;
	if (sink)
		sink_free(sink);
	errno = error;
	return NULL;
}

struct tp_sink *tp_ctf_sink(const char *dir, const char *options)
{
	struct tp_ctf_sink *sink = dir ? sink_new() : NULL;

	if (sink)
		sink->path = strdup(dir);
	return opened(sink, !dir ? EINVAL : sink && sink->path ? sink_open(sink, -1, options) : ENOMEM);
}

struct tp_sink *tp_ctf_sink_of_process(const char *pattern, const char *options)
{
	struct tp_ctf_sink *sink = pattern ? sink_new() : NULL;

	if (sink)
		tp_ctf_begin_name(sink, pattern);
	return opened(sink, !pattern ? EINVAL : sink && sink->path ? sink_open(sink, -1, options) : ENOMEM);
}

struct tp_sink *tp_ctf_sink_in(int dir, const char *name, const char *options)
{
	struct tp_ctf_sink *sink = name && dir >= 0 ? sink_new() : NULL;

	if (sink)
		sink->path = strdup(name);
	if (sink && sink->path)
		return opened(sink, sink_open(sink, dir, options));
	close(dir);
	return opened(sink, !name ? EINVAL : dir < 0 ? EBADF : ENOMEM);
}
