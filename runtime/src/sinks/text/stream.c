/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/stream.c - a text sink on a FILE of the program's.
 *
 * Two locks, in this order: the file's, which the program may hold when it
 * hits a tracepoint, keeps the lines of several threads apart; the sink's own
 * is held across a fork.
 */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "record/record.h"
#include "sinks/text/text.h"

struct text_stream {
	struct tp_text text;
	FILE *file;
	bool flushed;            /* before the fork that is on its way */
	int fd;                  /* of the file; -1: there is none */
	bool orphaned;           /* in a forked child: a thread that is not here has the file's lock for ever */
	unsigned long unwritten; /* lines of which something is in stdio's buffer */
};

/* Else stdio keeps the line in its buffer. */
static bool will_write(FILE *file, size_t len)
{
	return __flbf(file) || __fpending(file) + len >= __fbufsize(file);
}

/*
 * Hands the line to stdio. True if an error came up, and all that was in
 * stdio's buffer is gone: glibc throws it away, but says that all is well
 * where the line had been copied there. Only the stream's error flag shows
 * it, once it is cleared of what was before.
 */
static bool hand_over(FILE *file, const struct trace_seq *line)
{
	struct tp_write_signals signals;
	bool guarded = will_write(file, line->len);

	if (guarded)
		tp_write_signals_hold(&signals);
	errno = 0;
	clearerr_unlocked(file);
	bool failed = fwrite_unlocked(line->buffer, 1, line->len, file) < line->len || ferror_unlocked(file);
	if (guarded)
		tp_write_signals_release(&signals, failed);
	return failed;
}

static void put(struct text_stream *stream, const struct trace_seq *line)
{
	bool failed = hand_over(stream->file, line);
	int error = errno;
	size_t buffered = __fpending(stream->file);

	stream->unwritten = buffered > line->len || failed ? stream->unwritten + 1 : buffered > 0;
	if (failed) {
		tp_text_write_failed(&stream->text, error, stream->unwritten);
		stream->unwritten = 0;
	}
}

/* Without stdio: what it had in its buffer is the parent's. */
static void write_around(struct text_stream *stream, const struct trace_seq *line)
{
	struct tp_write_signals signals;

	tp_write_signals_hold(&signals);
	const int error = stream->fd < 0 ? EBADF : tp_file_write(stream->fd, line->buffer, line->len);
	tp_write_signals_release(&signals, error != 0);
	if (error)
		tp_text_write_failed(&stream->text, error, 1);
}

static void stream_write(struct tp_text *text, const struct trace_seq *line)
{
	struct text_stream *stream = (struct text_stream *)text;

	if (stream->orphaned) {
		write_around(stream, line);
		return;
	}
	/* Nobody waits for a fork with the file in his hands: those behind him may be what it waits for. */
	flockfile(stream->file);
	while (!tp_text_try_lock(text)) {
		funlockfile(stream->file);
		if (!tp_text_wait(text))
			return;
		flockfile(stream->file);
	}
	put(stream, line);
	tp_text_unlock(text);
	funlockfile(stream->file);
}

static void flush(struct text_stream *stream)
{
	struct tp_write_signals signals;

	if (stream->orphaned)
		return;
	tp_write_signals_hold(&signals);
	errno = 0;
	bool failed = fflush(stream->file) != 0;
	tp_write_signals_release(&signals, failed);
	if (failed)
		tp_text_write_failed(&stream->text, errno, stream->unwritten);
	stream->unwritten = 0;
}

static void stream_before_fork(struct tp_sink *head)
{
	struct text_stream *stream = (struct text_stream *)head;

	tp_lock(&stream->text.lock);
	/* Not to be waited for: whoever has the file may wait for one of the locks that the fork holds. */
	stream->flushed = ftrylockfile(stream->file) == 0;
	if (!stream->flushed)
		return;
	flush(stream);
	funlockfile(stream->file);
}

static void stream_after_fork_parent(struct tp_sink *head)
{
	tp_unlock(&((struct tp_text *)head)->lock);
}

/*
 * glibc has given back the locks of all files before this is called. musl leaves them to threads that the child does
 * not have: each function of stdio would wait for such a lock.
 */
static bool is_orphaned(FILE *file)
{
	if (ftrylockfile(file) != 0)
		return true;
	funlockfile(file);
	return false;
}

static void stream_after_fork_child(struct tp_sink *head)
{
	struct text_stream *stream = (struct text_stream *)head;

	stream->text.pid = getpid();
	if (!stream->flushed) {
		__fpurge(stream->file); /* the parent writes it; and the thread that was at it is not here */
		stream->unwritten = 0;
	}
	stream->orphaned = is_orphaned(stream->file);
	tp_unlock(&stream->text.lock);
}

static int stream_close(struct tp_sink *head)
{
	struct text_stream *stream = (struct text_stream *)head;

	flush(stream);
	tp_sink_tell_lost(head);
	int error = -stream->text.error;
	free(stream);
	return error;
}

static const struct tp_sink_ops stream_ops = {
	.name = "text",
	.reserve = tp_text_reserve,
	.commit = tp_text_commit,
	.before_fork = stream_before_fork,
	.after_fork_parent = stream_after_fork_parent,
	.after_fork_child = stream_after_fork_child,
	.close = stream_close,
};

struct tp_sink *tp_text_sink(FILE *file)
{
	if (!file) {
		errno = EINVAL;
		return NULL;
	}
	struct text_stream *stream = tp_malloc(sizeof(*stream));
	if (!stream) {
		errno = ENOMEM;
		return NULL;
	}
	*stream = (struct text_stream){.file = file, .fd = fileno(file)};
	int error = tp_text_open(&stream->text, &stream_ops, stream_write);
	if (!error)
		return &stream->text.head;
	free(stream);
	errno = -error;
	return NULL;
}
