/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/format.c - the texts of ftrace's format files beside the stream, by
 * which the trace explains itself without the program: format/SYSTEM has
 * those of all events of the system, with an empty line in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tp/trace_seq.h>

#include "base/file.h"
#include "base/text.h"
#include "print/description.h"
#include "sinks/ctf/describe/format.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/sink.h"

/* The events of a system. */
struct tp_ctf_format {
	struct tp_ctf_format *next;
	struct tp_buffer text;
	size_t described; /* bytes of it whose events are described in the metadata, too */
	size_t written;   /* bytes of it that are in the sink's file */
	char system[];
};

/* ---- The texts ---- */

/* That of the system, a new one where there is none yet. NULL: no memory. */
static struct tp_ctf_format *format_of(struct tp_ctf_formats *formats, const char *system)
{
	size_t size = strlen(system) + 1;
	struct tp_ctf_format **at = &formats->first;

	while (*at && strcmp((*at)->system, system) != 0)
		at = &(*at)->next;
	if (!*at) {
		*at = tp_malloc(sizeof(**at) + size);
		if (!*at)
			return NULL;
		**at = (struct tp_ctf_format){.next = NULL};
		memcpy((*at)->system, system, size);
	}
	return *at;
}

/* Appends it where it fits. -ENOSPC where it does not. */
static int put_format(struct tp_buffer *b, const struct tp_event *event)
{
	struct trace_seq seq;

	trace_seq_init(&seq, b->text + b->len, b->size - b->len);
	if (b->len)
		trace_seq_putc(&seq, '\n');
	int error = tp_format_append(event, &seq);
	if (!error)
		b->len += seq.len;
	return error;
}

void tp_ctf_format_add(struct tp_ctf_formats *formats, const struct tp_event *event)
{
	struct tp_ctf_format *format = format_of(formats, event->system);
	int error = format ? -ENOSPC : -ENOMEM;

	for (size_t room = 2048; error == -ENOSPC; room *= 2) {
		if (tp_buffer_grow(&format->text, room))
			error = put_format(&format->text, event);
		else
			error = -ENOMEM;
	}
	if (error)
		formats->error = -error;
	if (format)
		format->text.failed = false; /* what is in it is whole */
}

void tp_ctf_format_drop(struct tp_ctf_formats *formats)
{
	for (struct tp_ctf_format *format = formats->first; format; format = format->next)
		format->text.len = format->described;
}

/* ---- The files ---- */

/*
 * The name of a system's file: with %XX for what makes the system's own no
 * plain file name. Whoever looks for traces must not take the directory for
 * one, so "metadata" is no plain one either.
 */
static void put_name(char *name, const char *system)
{
	static const char digits[] = "0123456789ABCDEF";
	bool odd = !*system || *system == '.' || strcmp(system, "metadata") == 0; /* and so is its first character */

	for (; *system || odd; odd = false) {
		unsigned char c = (unsigned char)*system;
		if (odd || c < ' ' || c == 0x7f || c == '/' || c == '%') {
			*name++ = '%';
			*name++ = digits[c >> 4];
			*name++ = digits[c & 15];
		} else {
			*name++ = (char)c;
		}
		system += c != '\0';
	}
	*name = '\0';
}

/* Appends what is not in the file yet. 0 or an errno value: then the file is begun anew the next time. */
static int write_file(const struct tp_ctf_format *format, struct tp_ctf_sink *sink, int dir, size_t *written)
{
	char name[3 * NAME_MAX + 1];
	/* Not even to wait for a pipe's reader. */
	const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	size_t from = *written;
	struct tp_ctf_file file;

	*written = 0;
	if (strlen(format->system) > NAME_MAX)
		return ENAMETOOLONG;
	if (!tp_file_size_allowed(format->text.len))
		return EFBIG;
	put_name(name, format->system);
	if (from == 0)
		unlinkat(dir, name, 0); /* left by an older trace, or broken off */
	int error = from ? tp_ctf_file_open(sink, &file, dir, name, flags) : tp_ctf_file_create(sink, &file, dir, name, flags);
	if (error)
		return error;
	error = tp_file_write(file.fd, format->text.text + from, format->text.len - from);
	int failed = tp_ctf_file_close(sink, &file);
	error = error ? error : failed;
	*written = error ? 0 : format->text.len;
	return error;
}

static int write_files(const struct tp_ctf_formats *formats, int dir, bool all)
{
	int error = 0;
	struct tp_ctf_file sub = {.fd = tp_ctf_subdirectory(formats->sink, dir, "format", true, &error)};

	if (sub.fd < 0)
		return error;
	for (struct tp_ctf_format *format = formats->first; format; format = format->next) {
		size_t from_start = 0;
		size_t *written = all ? &from_start : &format->written;
		int failed = *written < format->text.len ? write_file(format, formats->sink, sub.fd, written) : 0;
		error = error ? error : failed;
	}
	tp_ctf_file_close(formats->sink, &sub);
	return error;
}

int tp_ctf_format_write(struct tp_ctf_formats *formats, int dir)
{
	bool more = false;

	for (struct tp_ctf_format *format = formats->first; format; format = format->next) {
		if (formats->anew)
			format->written = 0;
		format->described = format->text.len;
		more = more || format->written < format->text.len;
	}
	formats->anew = false;
	int error = more ? write_files(formats, dir, false) : 0;
	return error ? error : formats->error;
}

int tp_ctf_format_copy(const struct tp_ctf_formats *formats, int dir)
{
	return formats->first ? write_files(formats, dir, true) : 0;
}

void tp_ctf_format_free(struct tp_ctf_formats *formats)
{
	while (formats->first) {
		struct tp_ctf_format *format = formats->first;
		formats->first = format->next;
		tp_buffer_free(&format->text);
		free(format);
	}
}
