/* SPDX-License-Identifier: MIT */
/*
 * ftrace.c - the ftrace sink: a line of text an event in the kernel's own
 * trace buffer, by one write to trace_marker. The kernel adds task, processor
 * and time, and keeps writes apart: there is no lock here.
 *
 * Daemons close every descriptor that they don't know, ours too, and the
 * number may be another file's by now: each record looks first.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tp/tp.h>

#include "internal.h"
#include "line.h"
#include "tracefs.h"

/*
 * Bytes of a line that a kernel takes in one write, the rest of which it drops: up to
 * Linux 6.7 so many; from then on what fits into a page of its buffer, but no
 * more than 4096. Heads take some of that, of which not all is known.
 */
#define LINE_MAX_OLD ((size_t)1024)
#define LINE_MAX_NEW ((size_t)4000)

struct ftrace_sink {
	struct tp_sink head;
	uint64_t file;     /* see below */
	size_t limit;      /* of a line */
	unsigned int said; /* enum refusal, a bit each */
	int error;         /* the first errno of a write */
	char *path;        /* of trace_marker */
};

/* ---- The file ---- */

/*
 * A word, as threads and signal handlers may open the file again at the same
 * time: the descriptor in the lower half, then eight bits that count how often it
 * was opened again, maybe under the same number, and at the top what tells its file from others.
 */
static int descriptor(uint64_t file)
{
	return (int)(uint32_t)file;
}

static uint64_t identity(const struct stat *st)
{
	const uint64_t mix = 0x9e3779b97f4a7c15u;

	return ((uint64_t)st->st_ino * mix + (uint64_t)st->st_dev) * mix >> 40;
}

static bool is_ours(uint64_t file)
{
	struct stat st;

	return fstat(descriptor(file), &st) == 0 && identity(&st) == file >> 40;
}

/* 0, or a negative errno value. */
static int open_marker(const char *path, uint64_t *file)
{
	/* Where somebody has put a FIFO in its place, the program must not wait for its reader. */
	const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = tp_above_standard(open(path, flags));
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0) {
		int error = errno;
		close(fd);
		return -error;
	}
	*file = identity(&st) << 40 | (uint32_t)fd;
	return 0;
}

/* The descriptor, or a negative errno value. */
static int open_again(struct ftrace_sink *sink, uint64_t old)
{
	uint64_t file;
	int error = open_marker(sink->path, &file);

	if (error)
		return error;
	file |= (uint64_t)(uint8_t)((old >> 32) + 1) << 32;
	if (__atomic_compare_exchange_n(&sink->file, &old, file, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return descriptor(file);
	close(descriptor(file)); /* somebody was faster */
	return descriptor(old);
}

static int checked_descriptor(struct ftrace_sink *sink)
{
	uint64_t file = __atomic_load_n(&sink->file, __ATOMIC_RELAXED);

	return is_ours(file) ? descriptor(file) : open_again(sink, file);
}

/* ---- Records ---- */

static bool ftrace_reserve(struct tp_record *rec)
{
	rec->entry = tp_scratch_push(rec->size);
	if (!rec->entry)
		tp_sink_count_lost(rec->sink, TP_LOST_NESTED);
	return rec->entry != NULL;
}

/* Each is said once. */
enum refusal { IS_OFF, NO_MARKERS, FAILS };

static enum refusal refusal_of(int error)
{
	return error == EBADF ? IS_OFF : error == EINVAL ? NO_MARKERS : FAILS;
}

static void refused(struct ftrace_sink *sink, int error)
{
	enum refusal why = refusal_of(error);
	int none = 0;

	tp_sink_count_lost(&sink->head, TP_LOST_NO_FILE);
	__atomic_compare_exchange_n(&sink->error, &none, error, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	if (__atomic_fetch_or(&sink->said, 1u << why, __ATOMIC_RELAXED) & 1u << why)
		return;
	tp_complain("ftrace sink: %s: %s; records are lost until it works again", sink->path,
		    why == IS_OFF       ? "tracing is off (tracing_on is 0), or the buffer is full (options/overwrite is 0)"
		    : why == NO_MARKERS ? "the buffer takes no text (options/markers is 0)"
					: strerror(error));
}

/* 0, or an errno value. */
static int try_to_write(struct ftrace_sink *sink, const struct trace_seq *line)
{
	int fd = checked_descriptor(sink);

	if (fd < 0)
		return -fd;
	return write(fd, line->buffer, line->len) < 0 ? errno : 0;
}

static void write_line(struct ftrace_sink *sink, const struct trace_seq *line)
{
	int error = try_to_write(sink, line);

	/* That is what the kernel says when tracing is off; or else the program has closed it just now. */
	if (error == EBADF && !is_ours(__atomic_load_n(&sink->file, __ATOMIC_RELAXED)))
		error = try_to_write(sink, line);
	if (error)
		refused(sink, error);
}

static void print_and_write(struct ftrace_sink *sink, const struct tp_record *rec, char *memory)
{
	struct trace_seq text, line;

	trace_seq_init(&text, memory, sink->limit);
	/* A line has no NUL at its end, but this would want room for one. */
	trace_seq_init(&line, memory + sink->limit, sink->limit - strlen(TP_ELLIPSIS) + 1);
	tp_line_event(&line, &text, rec->event, rec->entry);
	if (line.full) {
		memcpy(line.buffer + line.len, TP_ELLIPSIS, strlen(TP_ELLIPSIS));
		line.len += strlen(TP_ELLIPSIS);
	}
	write_line(sink, &line);
}

static void ftrace_commit(struct tp_record *rec)
{
	struct ftrace_sink *sink = (struct ftrace_sink *)rec->sink;
	int error = errno, cancel_state;
	char *memory = tp_scratch_push(2 * sink->limit);

	/* open and write are cancellation points; a thread that ends here would be a reader for ever. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	if (memory)
		print_and_write(sink, rec, memory);
	else
		tp_sink_count_lost(rec->sink, TP_LOST_NESTED);
	pthread_setcancelstate(cancel_state, NULL);
	tp_scratch_pop(rec->entry);
	errno = error;
}

/* ---- Opening and closing ---- */

static int ftrace_close(struct tp_sink *head)
{
	struct ftrace_sink *sink = (struct ftrace_sink *)head;
	int error = -sink->error;

	tp_sink_tell_lost(head, NULL);
	if (is_ours(sink->file))
		close(descriptor(sink->file));
	free(sink->path);
	free(sink);
	return error;
}

static const struct tp_sink_ops ftrace_ops = {
	.name = "ftrace",
	.reserve = ftrace_reserve,
	.commit = ftrace_commit,
	.close = ftrace_close,
};

/* A file that is as old as the longer lines. */
static size_t line_limit(const char *directory)
{
	struct tp_buffer path = {.text = NULL};
	struct stat st;

	tp_buffer_printf(&path, "%s/buffer_subbuf_size_kb", directory);
	bool longer = !path.failed && stat(path.text, &st) == 0;
	tp_buffer_free(&path);
	return longer ? LINE_MAX_NEW : LINE_MAX_OLD;
}

static int no_memory(void)
{
	tp_complain("ftrace sink: %s", strerror(ENOMEM));
	return -ENOMEM;
}

/* Opens trace_marker in the directory, whose name becomes that of the file. */
static int open_sink(struct ftrace_sink *sink, struct tp_buffer *path)
{
	if (path->failed)
		return no_memory();
	size_t limit = line_limit(path->text);
	tp_buffer_printf(path, "/trace_marker");
	if (path->failed)
		return no_memory();

	uint64_t file;
	int error = open_marker(path->text, &file);
	if (error) {
		tp_complain("ftrace sink: %s: %s%s", path->text, strerror(-error), tp_tracefs_advice(-error));
		return error;
	}
	*sink = (struct ftrace_sink){.file = file, .limit = limit, .path = path->text};
	if (tp_sink_open(&sink->head, &ftrace_ops) == 0)
		return 0;
	close(descriptor(file));
	return no_memory();
}

struct tp_sink *tp_ftrace_sink(const char *instance)
{
	struct ftrace_sink *sink = tp_malloc(sizeof(*sink));
	struct tp_buffer path = {.text = NULL};
	int error = sink ? tp_tracefs_find(instance, &path) : no_memory();

	if (!error)
		error = open_sink(sink, &path);
	if (!error)
		return &sink->head;
	tp_buffer_free(&path);
	free(sink);
	errno = -error;
	return NULL;
}
