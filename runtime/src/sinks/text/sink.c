/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/sink.c - the text sink: a line an event.
 *
 * A record is built in scratch memory; at commit its line is printed there
 * too, and goes out by one fwrite.
 *
 * Two locks, in this order: the file's, which the program may hold when it
 * hits a tracepoint, keeps the lines of several threads apart; the sink's own
 * is held across a fork, so that the child finds the sink whole.
 */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "base/base.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/write_signals.h"
#include "print/print.h"
#include "record/record.h"

/* A line and the text of TP_printk; the longest record's strings fit. The small ones are for nested records. */
#define TEXT_SIZE ((size_t)80 << 10)
#define TEXT_SIZE_SMALL ((size_t)4 << 10)

static const char ellipsis[] = TP_ELLIPSIS "\n";

struct text_sink {
	struct tp_sink head;
	FILE *file;
	struct tp_lock lock;
	int pid;
	bool flushed;            /* before the fork that is on its way */
	unsigned long unwritten; /* lines of which something is in stdio's buffer */
	int error;               /* the first errno of a write */
};

/*
 * Set while the thread is in commit. A signal handler that interrupts it
 * would wait for the thread's own lock, or find stdio's buffer half changed.
 */
static TP_THREAD_LOCAL bool committing;

static bool text_reserve(struct tp_record *rec)
{
	struct timespec now;
	void *memory = committing ? NULL : tp_scratch_push(rec->size);

	if (!memory) {
		tp_sink_count_lost(rec->sink, TP_LOST_NESTED);
		return false;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	rec->time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	rec->entry = memory;
	return true;
}

/* Writes n, in so many digits at least, to where it ends at end; returns where it begins. */
static char *number_before(char *end, uint64_t n, int digits)
{
	for (; n || digits > 0; n /= 10, digits--)
		*--end = (char)('0' + n % 10);
	return end;
}

/* "SECONDS.NANOSECONDS PID/TID ", from the back. */
static void put_head(struct trace_seq *line, const struct tp_record *rec)
{
	const struct text_sink *sink = (const struct text_sink *)rec->sink;
	char numbers[80]; /* four of 20 digits at most, were it not for what they are */
	char *const end = numbers + sizeof(numbers);
	char *at = end;

	*--at = ' ';
	at = number_before(at, (uint64_t)rec->entry->pid, 1);
	*--at = '/';
	at = number_before(at, (uint64_t)sink->pid, 1);
	*--at = ' ';
	at = number_before(at, rec->time % 1000000000u, 9);
	*--at = '.';
	at = number_before(at, rec->time / 1000000000u, 1);
	tp_line_bytes(line, at, (size_t)(end - at));
}

/* line has room for the ellipsis behind its size. */
static void print_line(struct trace_seq *line, struct trace_seq *text, const struct tp_record *rec)
{
	put_head(line, rec);
	tp_line_event(line, text, rec->event, rec->entry);

	const char *end = line->full ? ellipsis : "\n";
	strcpy(line->buffer + line->len, end);
	line->len += strlen(end);
}

static void write_failed(struct text_sink *sink, int error)
{
	if (sink->error)
		return;
	sink->error = error ? error : EIO;
	tp_complain("text sink: writing failed: %s; records are lost until it works again", tp_strerror(sink->error));
}

static void count_unwritten_as_lost(struct text_sink *sink)
{
	__atomic_fetch_add(&sink->head.lost[TP_LOST_NO_FILE], sink->unwritten, __ATOMIC_RELAXED);
	sink->unwritten = 0;
}

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

static void write_line(struct text_sink *sink, const struct trace_seq *line)
{
	flockfile(sink->file);
	tp_lock(&sink->lock);
	bool failed = hand_over(sink->file, line);
	int error = errno;
	size_t buffered = __fpending(sink->file);

	sink->unwritten = buffered > line->len || failed ? sink->unwritten + 1 : buffered > 0;
	if (failed) {
		count_unwritten_as_lost(sink);
		write_failed(sink, error);
	}
	tp_unlock(&sink->lock);
	funlockfile(sink->file);
}

static void flush(struct text_sink *sink)
{
	struct tp_write_signals signals;

	tp_write_signals_hold(&signals);
	errno = 0;
	bool failed = fflush(sink->file) != 0;
	tp_write_signals_release(&signals, failed);
	if (failed) {
		count_unwritten_as_lost(sink);
		write_failed(sink, errno);
	}
	sink->unwritten = 0;
}

static bool print_and_write(struct tp_record *rec, size_t size)
{
	char *memory = tp_scratch_push(2 * size + sizeof(ellipsis));
	struct trace_seq text, line;

	if (!memory)
		return false;
	trace_seq_init(&text, memory, size);
	trace_seq_init(&line, memory + size, size);
	print_line(&line, &text, rec);
	write_line((struct text_sink *)rec->sink, &line);
	tp_scratch_pop(memory);
	return true;
}

static void text_commit(struct tp_record *rec)
{
	int error = errno;

	committing = true;
	tp_barrier();
	if (!print_and_write(rec, TEXT_SIZE) && !print_and_write(rec, TEXT_SIZE_SMALL))
		tp_sink_count_lost(rec->sink, TP_LOST_NESTED);
	tp_barrier();
	committing = false;
	tp_scratch_pop(rec->entry);
	errno = error;
}

static void text_before_fork(struct tp_sink *head)
{
	struct text_sink *sink = (struct text_sink *)head;

	tp_lock(&sink->lock);
	/* Not to be waited for: whoever has the file may wait for one of the locks that the fork holds. */
	sink->flushed = ftrylockfile(sink->file) == 0;
	if (!sink->flushed)
		return;
	flush(sink);
	funlockfile(sink->file);
}

static void text_after_fork_parent(struct tp_sink *head)
{
	tp_unlock(&((struct text_sink *)head)->lock);
}

static void text_after_fork_child(struct tp_sink *head)
{
	struct text_sink *sink = (struct text_sink *)head;

	sink->pid = getpid();
	if (!sink->flushed) {
		__fpurge(sink->file); /* the parent writes it; and the thread that was at it is not here */
		sink->unwritten = 0;
	}
	tp_unlock(&sink->lock);
}

static int text_close(struct tp_sink *head)
{
	struct text_sink *sink = (struct text_sink *)head;

	flush(sink);
	tp_sink_tell_lost(head, NULL);
	int error = -sink->error;
	free(sink);
	return error;
}

static const struct tp_sink_ops text_ops = {
	.name = "text",
	.reserve = text_reserve,
	.commit = text_commit,
	.before_fork = text_before_fork,
	.after_fork_parent = text_after_fork_parent,
	.after_fork_child = text_after_fork_child,
	.close = text_close,
};

struct tp_sink *tp_text_sink(FILE *file)
{
	if (!file) {
		errno = EINVAL;
		return NULL;
	}
	struct text_sink *sink = tp_malloc(sizeof(*sink));
	if (!sink) {
		errno = ENOMEM;
		return NULL;
	}
	*sink = (struct text_sink){.file = file, .lock = TP_LOCK_INIT(TP_RANK_SINK, "a text sink's lock"), .pid = getpid()};
	int error = tp_sink_open(&sink->head, &text_ops);
	if (!error)
		return &sink->head;
	free(sink);
	errno = -error;
	return NULL;
}
