/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/rest.h - lines to what may take only a part of one: a pipe that is full, a full disk. The rest is written
 * before the next line.
 */
#ifndef TP_TEXT_REST_H
#define TP_TEXT_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <tp/trace_seq.h>

/* All under the sink's lock. */
struct tp_text_rest {
	ssize_t (*put)(int fd, const char *from, size_t len); /* as write() */
	size_t len; /* of a line of which a part is out; its end is in text */
	size_t at;
	char *text; /* TP_TEXT_LINE_MAX bytes; for free() */
};

/* Ways to put: none raises a signal. */
ssize_t tp_text_send(int fd, const char *from, size_t len);            /* to a socket; waits for nobody */
ssize_t tp_text_write(int fd, const char *from, size_t len);           /* to a file or a pipe: SIGXFSZ, SIGPIPE */
ssize_t tp_text_write_to_device(int fd, const char *from, size_t len); /* which has none of these signals */

/* False: no memory. */
bool tp_text_rest_begin(struct tp_text_rest *rest, ssize_t (*put)(int fd, const char *from, size_t len));

/* The end of the line before. 0, or an errno value, and then there is no room for another one. */
int tp_text_put_rest(struct tp_text_rest *rest, int fd);

/* 0, also where only a part is out: the rest follows. Or an errno value. */
int tp_text_put_line(struct tp_text_rest *rest, int fd, const struct trace_seq *line);

#endif /* TP_TEXT_REST_H */
