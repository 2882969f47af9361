/* SPDX-License-Identifier: MIT */
/*
 * sinks/ftrace/sink.c - the ftrace sink: a line of text an event in the kernel's own
 * trace buffer, by one write to trace_marker. The kernel adds task, processor
 * and time, and keeps writes apart: there is no lock here.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/file.h"
#include "base/message.h"
#include "base/text.h"
#include "base/tracefs.h"
#include "print/print.h"
#include "record/record.h"

/* ---- The kernel's trace buffers: the top-level one, and instances beside it ---- */

static bool is_name(const char *instance)
{
	return !strchr(instance, '/') && strcmp(instance, ".") != 0 && strcmp(instance, "..") != 0;
}

/* What to do about a file there that can't be opened or made: "" or "; ...". */
static const char *advice(int error)
{
	switch (error) {
	case EACCES:
		return "; run it as root, or let a group in: as root, mount -o remount,gid=GROUP,mode=0750 on the tracefs";
	case EPERM:
		return "; the kernel is locked down, or a security policy forbids it";
	case ENOENT:
		return "; a directory must be there, and be tracefs's: make the instance, or write its name without a path";
	case EROFS:
		return "; containers often have a read-only /sys: mount tracefs in it, or outside of it";
	default:
		return "";
	}
}

static int make_instance(const struct tp_buffer *path)
{
	if (path->failed || mkdir(path->text, 0750) == 0)
		return 0;
	int error = errno;
	struct stat st;
	if (stat(path->text, &st) == 0 || errno != ENOENT)
		return 0; /* it is there, or what is wrong with it will be seen when it is opened */
	tp_complain("ftrace output: %s: the instance can't be made: %s%s", path->text, tp_strerror(error),
		    error == EACCES ? "; make it as root" : advice(error));
	return -error;
}

/*
 * Appends the directory of a trace buffer to path: the top-level one's for NULL
 * and "", else that of the instance of this name, which is made; a name that
 * begins with "/" is the directory itself. 0, or a negative errno value, and it was
 * said why. Whether path has failed is for the caller to see.
 */
static int find_directory(const char *instance, struct tp_buffer *path)
{
	if (instance && *instance == '/') {
		tp_buffer_printf(path, "%s", instance);
		return 0;
	}
	if (instance && !is_name(instance)) {
		tp_complain("ftrace output: '%s' is no name of an instance: write one without '/', or a path that begins with "
			    "it", instance);
		return -EINVAL;
	}
	if (!tp_find_tracefs(path)) {
		tp_complain("ftrace output: tracefs is not mounted: as root, mount -t tracefs nodev " TP_TRACEFS);
		return -ENOENT;
	}
	if (!instance || !*instance)
		return 0;
	tp_buffer_printf(path, "/instances/%s", instance);
	return make_instance(path);
}

/* ---- The sink ---- */

/*
 * Bytes of a line that a kernel takes in one write, the rest of which it drops: up to
 * Linux 6.7 so many; from then on what fits into a page of its buffer, but no
 * more than 4096. Heads take some of that, of which not all is known.
 */
#define LINE_MAX_OLD ((size_t)1024)
#define LINE_MAX_NEW ((size_t)4000)

struct ftrace_sink {
	struct tp_sink head;
	struct tp_guarded_fd file;
	size_t limit;      /* of a line */
	unsigned int said; /* enum refusal, a bit each */
	int error;         /* the first errno of a write */
	char *path;        /* of trace_marker */
};

static int open_marker(const void *path)
{
	/* Where somebody has put a FIFO in its place, the program must not wait for its reader. */
	return open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* ---- Records ---- */

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
	tp_complain("ftrace output: %s: %s; records are lost until it works again", sink->path,
		    why == IS_OFF       ? "tracing is off (tracing_on is 0), or the buffer is full (options/overwrite is 0)"
		    : why == NO_MARKERS ? "the buffer takes no text (options/markers is 0)"
					: tp_strerror(error));
}

/* 0, or an errno value. */
static int try_to_write(struct ftrace_sink *sink, const struct trace_seq *line)
{
	int error;
	int fd = tp_guarded_fd_get(&sink->file, open_marker, sink->path, true, &error);

	if (fd < 0)
		return error;
	return write(fd, line->buffer, line->len) < 0 ? errno : 0;
}

static void write_line(struct ftrace_sink *sink, const struct trace_seq *line)
{
	int error = try_to_write(sink, line);

	/* That is what the kernel says when tracing is off; or else the program has closed it just now. */
	if (error == EBADF && tp_guarded_fd_descriptor(&sink->file) < 0)
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

	tp_sink_tell_lost(head);
	tp_guarded_fd_close(&sink->file);
	free(sink->path);
	free(sink);
	return error;
}

static const struct tp_sink_ops ftrace_ops = {
	.name = "ftrace",
	.reserve = tp_reserve_scratch,
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
	tp_complain("ftrace output: %s", tp_strerror(ENOMEM));
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

	*sink = (struct ftrace_sink){.limit = limit, .path = path->text};
	int fd = open_marker(path->text);
	int error = tp_guarded_fd_take(&sink->file, fd);
	if (error) {
		tp_complain("ftrace output: %s: %s%s", path->text, tp_strerror(error), advice(error));
		return -error;
	}
	tp_guarded_fd_mark(&sink->file);
	if (tp_sink_open(&sink->head, &ftrace_ops) == 0)
		return 0;
	tp_guarded_fd_close(&sink->file);
	return no_memory();
}

struct tp_sink *tp_ftrace_sink(const char *instance)
{
	struct ftrace_sink *sink = tp_malloc(sizeof(*sink));
	struct tp_buffer path = {.text = NULL};
	int error = sink ? find_directory(instance, &path) : no_memory();

	if (!error)
		error = open_sink(sink, &path);
	if (!error)
		return &sink->head;
	tp_buffer_free(&path);
	free(sink);
	errno = -error;
	return NULL;
}

