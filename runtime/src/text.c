/* SPDX-License-Identifier: MIT */
/*
 * text.c - the text sink: a line an event.
 *
 * A record is built in scratch memory; at commit its line is printed there
 * too, and goes out by one fwrite. The sink's own lock keeps the lines of
 * several threads apart, and is held across a fork, so that what stdio has
 * buffered is written once and not by parent and child.
 */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "internal.h"

/* A line and the text of TP_printk; the longest record's strings fit. The small ones are for nested records. */
#define TEXT_SIZE ((size_t)80 << 10)
#define TEXT_SIZE_SMALL ((size_t)4 << 10)

static const char ellipsis[] = "...\n";

struct text_sink {
	struct tp_sink head;
	FILE *file;
	struct tp_lock lock;
	bool to_pipe; /* or to a socket: a write may raise SIGPIPE */
	int pid;
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
		tp_sink_count_lost(rec->sink);
		return false;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	rec->time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	rec->entry = memory;
	return true;
}

/* Appends c so that it can't end the line or move the cursor. */
static void put_escaped(struct trace_seq *line, unsigned char c)
{
	if (c == '\n')
		trace_seq_puts(line, "\\n");
	else if (c < ' ' || c == 0x7f)
		trace_seq_printf(line, "\\x%02x", c);
	else
		trace_seq_putc(line, (char)c);
}

/* line has room for the ellipsis behind its size. */
static void print_line(struct trace_seq *line, struct trace_seq *text, const struct tp_record *rec)
{
	const struct text_sink *sink = (const struct text_sink *)rec->sink;

	trace_seq_printf(line, "%llu.%09llu %d/%d %s:%s: ", (unsigned long long)(rec->time / 1000000000u),
			 (unsigned long long)(rec->time % 1000000000u), sink->pid, rec->entry->pid,
			 rec->event->system, rec->event->name);
	rec->event->event_class->print(text, rec->entry);
	if (text->len && text->buffer[text->len - 1] == '\n' && !text->full)
		text->len--;
	for (size_t i = 0; i < text->len && !line->full; i++)
		put_escaped(line, (unsigned char)text->buffer[i]);

	const char *end = line->full || text->full ? ellipsis : "\n";
	strcpy(line->buffer + line->len, end);
	line->len += strlen(end);
}

static void write_failed(struct text_sink *sink, int error)
{
	if (sink->error)
		return;
	sink->error = error ? error : EIO;
	tp_complain("text sink: writing failed: %s; records are lost until it works again", strerror(sink->error));
}

/* SIGPIPE held back, where it could come, and taken away again, unless it was there before. */
struct pipe_guard {
	sigset_t old;
	bool was_pending;
};

static void pipe_enter(const struct text_sink *sink, struct pipe_guard *guard)
{
	sigset_t set;

	if (!sink->to_pipe)
		return;
	sigpending(&set);
	guard->was_pending = sigismember(&set, SIGPIPE) == 1;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, &guard->old);
}

/* Keeps errno. */
static void pipe_leave(const struct text_sink *sink, const struct pipe_guard *guard)
{
	const struct timespec no_time = {.tv_sec = 0};
	int error = errno;
	sigset_t set;

	if (!sink->to_pipe)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	if (!guard->was_pending)
		sigtimedwait(&set, NULL, &no_time);
	pthread_sigmask(SIG_SETMASK, &guard->old, NULL);
	errno = error;
}

static void count_unwritten_as_lost(struct text_sink *sink)
{
	__atomic_fetch_add(&sink->head.lost, sink->unwritten, __ATOMIC_RELAXED);
	sink->unwritten = 0;
}

/*
 * Hands the line to stdio. True if an error came up, and all that was in
 * stdio's buffer is gone: glibc throws it away, but says that all is well
 * where the line had been copied there. Only the stream's error flag shows
 * it, once it is cleared of what was before.
 */
static bool hand_over(FILE *file, const struct trace_seq *line)
{
	flockfile(file);
	clearerr_unlocked(file);
	bool failed = fwrite_unlocked(line->buffer, 1, line->len, file) < line->len || ferror_unlocked(file);
	funlockfile(file);
	return failed;
}

static void write_line(struct text_sink *sink, const struct trace_seq *line)
{
	struct pipe_guard guard;

	tp_lock(&sink->lock);
	pipe_enter(sink, &guard);
	errno = 0;
	bool failed = hand_over(sink->file, line);
	pipe_leave(sink, &guard);

	size_t buffered = __fpending(sink->file);
	sink->unwritten = buffered > line->len || failed ? sink->unwritten + 1 : buffered > 0;
	if (failed) {
		count_unwritten_as_lost(sink);
		write_failed(sink, errno);
	}
	tp_unlock(&sink->lock);
}

static void flush(struct text_sink *sink)
{
	struct pipe_guard guard;

	pipe_enter(sink, &guard);
	errno = 0;
	bool failed = fflush(sink->file) != 0;
	pipe_leave(sink, &guard);
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
		tp_sink_count_lost(rec->sink);
	tp_barrier();
	committing = false;
	tp_scratch_pop(rec->entry);
	errno = error;
}

static void text_before_fork(struct tp_sink *head)
{
	struct text_sink *sink = (struct text_sink *)head;

	tp_lock(&sink->lock);
	flush(sink);
}

static void text_after_fork_parent(struct tp_sink *head)
{
	tp_unlock(&((struct text_sink *)head)->lock);
}

static void text_after_fork_child(struct tp_sink *head)
{
	struct text_sink *sink = (struct text_sink *)head;

	sink->pid = getpid();
	tp_unlock(&sink->lock);
}

static int text_close(struct tp_sink *head)
{
	struct text_sink *sink = (struct text_sink *)head;

	flush(sink);
	unsigned long lost = tp_sink_lost(head);
	if (lost)
		tp_complain("text sink: records lost: %lu", lost);
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

static bool may_raise_sigpipe(FILE *file)
{
	struct stat st;
	int fd = fileno(file);

	return fd >= 0 && fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

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
	*sink = (struct text_sink){.file = file, .lock = TP_LOCK_INIT, .pid = getpid(),
				   .to_pipe = may_raise_sigpipe(file)};
	int error = tp_sink_open(&sink->head, &text_ops);
	if (!error)
		return &sink->head;
	free(sink);
	errno = -error;
	return NULL;
}
