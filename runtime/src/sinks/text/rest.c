/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/rest.c - see rest.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "sinks/text/rest.h"
#include "sinks/text/text.h"

ssize_t tp_text_send(int fd, const char *from, size_t len)
{
	return send(fd, from, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t tp_text_write(int fd, const char *from, size_t len)
{
	struct tp_write_signals signals;

	tp_write_signals_hold(&signals);
	ssize_t put = write(fd, from, len);
	tp_write_signals_release(&signals, put < 0);
	return put;
}

ssize_t tp_text_write_to_device(int fd, const char *from, size_t len)
{
	return write(fd, from, len);
}

bool tp_text_rest_begin(struct tp_text_rest *rest, ssize_t (*put)(int fd, const char *from, size_t len))
{
	*rest = (struct tp_text_rest){.put = put, .text = tp_malloc(TP_TEXT_LINE_MAX)};
	return rest->text != NULL;
}

/* How many bytes are out, and an error where that is not all. */
static size_t put_some(const struct tp_text_rest *rest, int fd, const char *from, size_t len, int *error)
{
	size_t done = 0;

	*error = 0;
	while (done < len && !*error) {
		ssize_t put = rest->put(fd, from + done, len - done);
		if (put > 0)
			done += (size_t)put;
		else if (put == 0 || errno != EINTR)
			*error = put < 0 ? errno : EAGAIN;
	}
	return done;
}

int tp_text_put_rest(struct tp_text_rest *rest, int fd)
{
	int error = 0;

	if (!rest->len)
		return 0;
	const size_t done = put_some(rest, fd, rest->text + rest->at, rest->len, &error);
	rest->at += done;
	rest->len -= done;
	return error;
}

/* There may be room again, for the rest. */
static bool may_go_on(int error)
{
	return tp_text_is_full(error) || error == ENOSPC || error == EDQUOT;
}

int tp_text_put_line(struct tp_text_rest *rest, int fd, const struct trace_seq *line)
{
	int error = tp_text_put_rest(rest, fd);

	if (error)
		return error;
	const size_t done = put_some(rest, fd, line->buffer, line->len, &error);
	if (!done || done == line->len || !may_go_on(error))
		return error;
	rest->at = 0;
	rest->len = line->len - done;
	memcpy(rest->text, line->buffer + done, rest->len);
	return 0;
}
