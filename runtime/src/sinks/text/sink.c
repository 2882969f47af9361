/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/sink.c - what all text sinks share: a line an event.
 *
 * A record is built in scratch memory; at commit its line is printed there
 * too, and goes out at once.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/guard.h"
#include "base/message.h"
#include "base/thread.h"
#include "print/print.h"
#include "record/record.h"
#include "sinks/text/text.h"

/* For nested records. */
#define TEXT_SIZE_SMALL ((size_t)4 << 10)

/*
 * Set while the thread is in commit. A signal handler that interrupts it
 * would wait for the thread's own lock, or find stdio's buffer half changed.
 */
static TP_THREAD_LOCAL bool committing;

static void leave(void)
{
	committing = false;
}

bool tp_text_reserve(struct tp_record *rec)
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

/* "SECONDS.NANOSECONDS PID/TID ", from the back. */
static void put_head(struct trace_seq *line, const struct tp_record *rec)
{
	const struct tp_text *text = (const struct tp_text *)rec->sink;
	char numbers[80]; /* four of 20 digits at most, were it not for what they are */
	char *const end = numbers + sizeof(numbers);
	char *at = end;

	*--at = ' ';
	at = tp_digits_before(at, (uint64_t)rec->entry->pid);
	*--at = '/';
	at = tp_digits_before(at, (uint64_t)text->pid);
	*--at = ' ';
	/* A digit more than are wanted, so that there are zeros at the beginning; the point takes its place. */
	at = tp_digits_before(at, 1000000000u + rec->time % 1000000000u);
	*at = '.';
	at = tp_digits_before(at, rec->time / 1000000000u);
	tp_line_bytes(line, at, (size_t)(end - at));
}

/* line has room for the ellipsis and the newline behind its size. */
static void print_line(struct trace_seq *line, struct trace_seq *text, const struct tp_record *rec)
{
	put_head(line, rec);
	tp_line_event(line, text, rec->event, rec->entry);

	if (line->full) {
		memcpy(line->buffer + line->len, TP_ELLIPSIS, strlen(TP_ELLIPSIS));
		line->len += strlen(TP_ELLIPSIS);
	}
	line->buffer[line->len++] = '\n';
}

bool tp_text_is_full(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
}

void tp_text_write_failed(struct tp_text *text, int error, unsigned long lines)
{
	if (tp_text_is_full(error)) {
		tp_sink_count_all_lost(&text->head, TP_LOST_LIMIT, lines);
		return;
	}
	tp_sink_count_all_lost(&text->head, TP_LOST_NO_FILE, lines);
	if (text->error)
		return;
	text->error = error ? error : EIO;
	tp_complain("text output: writing failed: %s; records are lost until it works again", tp_strerror(text->error));
}

static bool print_and_write(struct tp_record *rec, size_t size)
{
	struct tp_text *sink = (struct tp_text *)rec->sink;
	char *memory = tp_scratch_push(2 * size + sizeof(TP_ELLIPSIS));
	struct trace_seq text, line;

	if (!memory)
		return false;
	trace_seq_init(&text, memory, size);
	trace_seq_init(&line, memory + size, size);
	print_line(&line, &text, rec);
	sink->write(sink, &line);
	tp_scratch_pop(memory);
	return true;
}

void tp_text_commit(struct tp_record *rec)
{
	int error = errno;

	committing = true;
	tp_barrier();
	if (!print_and_write(rec, TP_TEXT_SIZE) && !print_and_write(rec, TEXT_SIZE_SMALL))
		tp_sink_count_lost(rec->sink, TP_LOST_NESTED);
	tp_barrier();
	committing = false;
	tp_scratch_pop(rec->entry);
	errno = error;
}

bool tp_text_try_lock(struct tp_text *text)
{
	const bool passing = tp_fork_latch_try(&tp_lines);

	if (passing)
		tp_lock(&text->lock);
	return passing;
}

bool tp_text_wait(struct tp_text *text)
{
	const bool goes_on = tp_fork_latch_wait(&tp_lines);

	if (!goes_on)
		tp_sink_count_lost(&text->head, TP_LOST_NESTED);
	return goes_on;
}

bool tp_text_lock(struct tp_text *text)
{
	while (!tp_text_try_lock(text)) {
		if (!tp_text_wait(text))
			return false;
	}
	return true;
}

void tp_text_unlock(struct tp_text *text)
{
	tp_unlock(&text->lock);
	tp_fork_latch_leave(&tp_lines);
}

/* Without the lock where there is no rest: whoever has it may be waiting for a reader for ever. */
void tp_text_end(struct tp_sink *head)
{
	struct tp_text *text = (struct tp_text *)head;

	if (head->ops->commit != tp_text_commit || !__atomic_load_n(&text->rest.len, __ATOMIC_RELAXED) || !tp_text_try_lock(text))
		return;
	text->finish(text);
	tp_text_unlock(text);
}

void tp_text_before_fork(struct tp_sink *head)
{
	tp_lock(&((struct tp_text *)head)->lock);
}

void tp_text_after_fork_parent(struct tp_sink *head)
{
	tp_unlock(&((struct tp_text *)head)->lock);
}

void tp_text_after_fork_child(struct tp_sink *head)
{
	struct tp_text *text = (struct tp_text *)head;

	text->pid = getpid();
	tp_unlock(&text->lock);
}

int tp_text_open(struct tp_text *text, const struct tp_sink_ops *ops,
		 void (*write)(struct tp_text *text, const struct trace_seq *line))
{
	text->lock = (struct tp_lock)TP_LOCK_INIT(TP_RANK_SINK, "a text output's lock");
	text->pid = getpid();
	text->write = write;
	tp_thread_arm(leave);
	return tp_sink_open(&text->head, ops);
}
