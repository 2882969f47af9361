/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/describe.c - what a trace says of itself: the file of its metadata, and
 * which events are in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/message.h"
#include "base/text.h"
#include "sinks/ctf/describe/describe.h"
#include "sinks/ctf/describe/format.h"
#include "sinks/ctf/describe/metadata.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/sink.h"

/* ---- The file ---- */

void tp_ctf_describe_begin(struct tp_ctf_sink *sink)
{
	struct tp_buffer *b = &sink->events.metadata;

	tp_ctf_metadata_head(b);
	sink->events.process_at = tp_ctf_environment(b);
	sink->events.clock_at = b->len;
	tp_ctf_metadata_stream(b, sink->clock.name, sink->options.context);
}

struct tp_ctf_description tp_ctf_describe(const struct tp_ctf_sink *sink)
{
	struct tp_ctf_description description = {.text = sink->events.metadata.text, .len = sink->events.metadata.len};

	tp_ctf_metadata_clock(description.clock, &sink->clock);
	return description;
}

/* 0 or an errno value. */
static int description_write(const struct tp_ctf_sink *sink, const struct tp_ctf_description *description, int fd)
{
	const char *text = description->text;
	char process[TP_CTF_PROCESS_TEXT];

	tp_ctf_environment_of_process(process, sink->pid, sink->created);
	const struct {
		const char *text;
		size_t len;
	} parts[] = {
		{text, sink->events.process_at},
		{process, strlen(process)},
		{text + sink->events.process_at, sink->events.clock_at - sink->events.process_at},
		{description->clock, strlen(description->clock)},
		{text + sink->events.clock_at, description->len - sink->events.clock_at},
	};
	int error = tp_file_size_allowed(description->len + sizeof(process) + sizeof(description->clock)) ? 0 : EFBIG;

	for (size_t i = 0; !error && i < sizeof(parts) / sizeof(parts[0]); i++)
		error = tp_file_write(fd, parts[i].text, parts[i].len);
	return error;
}

int tp_ctf_metadata_write(const struct tp_ctf_sink *sink, int fd)
{
	const struct tp_ctf_description description = tp_ctf_describe(sink);

	return description_write(sink, &description, fd);
}

/* 0 or an errno value. */
static int metadata_write_hidden(struct tp_ctf_sink *sink, const struct tp_ctf_description *description, int dir,
				 const char *hidden)
{
	struct tp_ctf_file file;

	/* The name is this process's: what has it was left by a dead one. */
	unlinkat(dir, hidden, 0);
	int error = tp_ctf_file_create(sink, &file, dir, hidden, O_WRONLY);
	if (error)
		return error;
	error = description_write(sink, description, file.fd);
	int failed = tp_ctf_file_close(sink, &file);
	error = error ? error : failed;
	if (error)
		unlinkat(dir, hidden, 0);
	return error;
}

/* The file is replaced as a whole, so that a reader never sees half an event's description. 0 or an errno value. */
static int metadata_make(struct tp_ctf_sink *sink, const struct tp_ctf_description *description, int dir, bool first)
{
	static const char name[] = "metadata";
	char hidden[32];

	/* Of its own, as another process may be making a trace in the same directory. */
	snprintf(hidden, sizeof(hidden), ".%s-%d", name, sink->pid);
	int error = metadata_write_hidden(sink, description, dir, hidden);
	if (error)
		return error;
	if (first)
		error = tp_ctf_rename_new(dir, hidden, name);
	else if (renameat(dir, hidden, dir, name) != 0)
		error = errno;
	if (error)
		unlinkat(dir, hidden, 0);
	return error;
}

static int metadata_replace(struct tp_ctf_sink *sink, const struct tp_ctf_description *description, bool first)
{
	int error;
	int dir = tp_ctf_dir(sink, &error);

	return dir < 0 ? error : metadata_make(sink, description, dir, first);
}

/*
 * A copy that is all there for whoever makes a directory: a record may come, and be the first, while tp_events_lock
 * is held. Returns the copy before it, to be freed. *later: the directory is still to be made.
 */
static char *publish(struct tp_ctf_sink *sink, char *copy, bool *later)
{
	struct tp_ctf_description description = tp_ctf_describe(sink);

	memcpy(copy, description.text, description.len);
	description.text = copy;
	tp_mutex_lock(&tp_ctf_lock);
	char *before = sink->events.so_far.text;
	sink->events.so_far = description;
	*later = sink->later;
	tp_mutex_unlock(&tp_ctf_lock);
	return before;
}

static int metadata_write(struct tp_ctf_sink *sink)
{
	struct tp_guard guard;
	char *copy = sink->pattern ? tp_malloc(sink->events.metadata.len) : NULL;
	bool later = false;
	int error = 0;

	if (sink->pattern && !copy)
		return ENOMEM;
	if (!tp_guard_enter(&guard)) {
		free(copy);
		return EDEADLK;
	}
	tp_clock_refine(&sink->clock);
	if (copy)
		copy = publish(sink, copy, &later);
	if (!later && sink->forked) { /* while an event was described, another thread had to take the parent's directory */
		error = EPERM;
	} else if (!later) {
		const struct tp_ctf_description description = tp_ctf_describe(sink);
		error = metadata_replace(sink, &description, !sink->pattern && sink->events.written == 0);
	}
	tp_guard_leave(&guard);
	free(copy);
	return error;
}

int tp_ctf_metadata_begin_file(struct tp_ctf_sink *sink, int dir, const struct tp_ctf_description *description)
{
	sink->created = time(NULL);
	return metadata_make(sink, description, dir, true);
}

/* They are nothing that a record needs: without them, it goes on. In tp_guard_enter(). */
static void formats_write(struct tp_ctf_sink *sink)
{
	int error;
	int dir = tp_ctf_dir(sink, &error);

	if (dir >= 0)
		error = tp_ctf_format_write(&sink->events.formats, dir);
	if (error && !sink->events.formats.complained)
		tp_complain("CTF trace '%s': the format texts in '%s/format' are incomplete: %s%s; the trace itself "
			    "goes on without them",
			    sink->path, sink->path, tp_strerror(error), tp_ctf_remedy(error));
	sink->events.formats.complained = sink->events.formats.complained || error;
}

void tp_ctf_describe_clock(struct tp_ctf_sink *sink)
{
	if (!tp_clock_refine(&sink->clock))
		return;
	const struct tp_ctf_description description = tp_ctf_describe(sink);
	metadata_replace(sink, &description, false); /* where it can't be written, the clock is as good as it was */
}

void tp_ctf_describe_better(struct tp_ctf_sink *sink)
{
	if (tp_ctf_is_later(sink) || sink->forked)
		return;
	if (sink->options.rotate)
		tp_mutex_lock(&tp_ctf_chapter_lock);
	if (tp_try_lock(&tp_events_lock)) {
		tp_ctf_describe_clock(sink);
		if (sink->events.formats.anew)
			formats_write(sink);
		tp_unlock(&tp_events_lock);
	}
	if (sink->options.rotate)
		tp_mutex_unlock(&tp_ctf_chapter_lock);
}

int tp_ctf_describe_event(struct tp_sink *head, const struct tp_event *event)
{
	struct tp_ctf_sink *sink = (struct tp_ctf_sink *)head;
	int error = 0;

	if (tp_ctf_bit_is_set(sink->events.described, event->id) || tp_ctf_bit_is_set(sink->events.pending, event->id))
		return 0;
	if (sink->forked) {
		/* No error: attached, its records are at least counted. */
		if (!sink->events.partial)
			tp_complain("CTF trace '%s': process %d, a forked child, can't add events to its parent's "
				    "trace: the records of '%s:%s' and others that it loads are lost",
				    sink->path, sink->pid, event->system, event->name);
		sink->events.partial = true;
		return 0;
	}
	error = tp_ctf_metadata_event(&sink->events.metadata, event);
	if (error == -EINVAL)
		tp_complain("CTF trace '%s': '%s:%s' has a dynamic array whose elements are aligned to more than %d "
			    "bytes, for which CTF has no words",
			    sink->path, event->system, event->name, TP_STREAM_ALIGN);
	if (error) {
		sink->events.partial = true;
	} else {
		tp_ctf_bit_set(sink->events.pending, event->id);
		tp_ctf_format_add(&sink->events.formats, event);
	}
	return error;
}

/*
 * The short way of a record asks nothing: it is open where all events are in
 * the metadata, and their context is what record/stream.h writes.
 */
void tp_ctf_choose_way(struct tp_ctf_sink *sink)
{
	bool is_short = sink->clock.counter && !sink->context_size && !sink->copies && !sink->events.partial && !tp_events_without_id;

	if (sink->head.slot != sink->slot) /* else threads may be reading it */
		sink->head.slot = sink->slot;
	tp_sink_set_key(&sink->head, is_short ? tp_ctf_key(sink) : TP_NO_KEY);
}

void tp_ctf_describe_chapter(struct tp_ctf_sink *sink)
{
	sink->events.formats.anew = true;
	formats_write(sink);
	tp_ctf_choose_way(sink);
}

int tp_ctf_write_descriptions(struct tp_sink *head)
{
	struct tp_ctf_sink *sink = (struct tp_ctf_sink *)head;
	struct tp_guard guard;
	int error = 0;

	if (sink->events.metadata.len != sink->events.written)
		error = metadata_write(sink);
	if (error) {
		if (sink->events.written) /* else it is tp_ctf_sink's to tell */
			tp_complain("CTF trace '%s': its metadata can't be written: %s%s", sink->path, tp_strerror(error),
				    tp_ctf_remedy(error));
		sink->events.metadata.len = sink->events.written;
		tp_ctf_format_drop(&sink->events.formats);
		sink->events.partial = true;
		__atomic_store_n(&sink->error, error, __ATOMIC_RELAXED);
	} else {
		sink->events.written = sink->events.metadata.len;
		for (unsigned int i = 0; i < sizeof(sink->events.pending); i++)
			__atomic_fetch_or(&sink->events.described[i], sink->events.pending[i], __ATOMIC_RELAXED);
		if (!tp_ctf_is_later(sink) && tp_guard_enter(&guard)) {
			formats_write(sink);
			tp_guard_leave(&guard);
		}
	}
	memset(sink->events.pending, 0, sizeof(sink->events.pending));
	tp_ctf_choose_way(sink);
	return -error;
}
