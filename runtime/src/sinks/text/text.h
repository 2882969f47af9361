/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/text.h - text sinks: sink.c has what they share, stream.c those on
 * a FILE of the program's, file.c those on a file by name, descriptor.c those on a
 * descriptor that somebody else has passed, and those on a socket by name.
 */
#ifndef TP_TEXT_H
#define TP_TEXT_H

#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "base/lock.h"
#include "sinks/text/rest.h"

/* Bytes of a line, and of the text of TP_printk; the longest record's strings fit. */
#define TP_TEXT_SIZE ((size_t)80 << 10)
#define TP_TEXT_LINE_MAX (TP_TEXT_SIZE + 8) /* with an ellipsis and the newline */

/* The beginning of each kind of text sink. */
struct tp_text {
	struct tp_sink head;
	struct tp_lock lock; /* of what writes the lines; held across a fork, so that the child finds it whole */
	int pid;
	int error; /* the first errno of a write */
	void (*write)(struct tp_text *text, const struct trace_seq *line);
	struct tp_text_rest rest; /* of those that may write a part of a line; they have the next, too */
	void (*finish)(struct tp_text *text); /* writes the rest, or counts the line as lost; under the lock */
};

/* Fills in the rest of ops' kind, and opens the sink. 0, or a negative errno value. */
int tp_text_open(struct tp_text *text, const struct tp_sink_ops *ops,
		 void (*write)(struct tp_text *text, const struct trace_seq *line));

/* At the end of the program: a line of which a part is out is finished, or counts as lost. Other sinks are left alone. */
void tp_text_end(struct tp_sink *head);

/* The operations of all kinds. */
bool tp_text_reserve(struct tp_record *rec);
void tp_text_commit(struct tp_record *rec);

/* The sink's lock, for a line. False where a fork has it that must not be waited for: the line was counted as lost. */
bool tp_text_lock(struct tp_text *text);
void tp_text_unlock(struct tp_text *text);

/* The parts of tp_text_lock(): false where a fork has it; and waits for the fork, false if it is as above. */
bool tp_text_try_lock(struct tp_text *text);
bool tp_text_wait(struct tp_text *text);

/* Around a fork, of those whose lines are out once they are written: the lock, and the child's id. */
void tp_text_before_fork(struct tp_sink *head);
void tp_text_after_fork_parent(struct tp_sink *head);
void tp_text_after_fork_child(struct tp_sink *head);

/* Whether the errno value says that the reader does not keep up. */
bool tp_text_is_full(int error);

/* So many lines are lost, for this reason: an errno value. Where the reader does not keep up, they are only counted. */
void tp_text_write_failed(struct tp_text *text, int error, unsigned long lines);

/* On stderr, stdout or the file of that name, which is appended to. NULL with errno set. */
struct tp_sink *tp_text_file_sink(const char *name);

/*
 * On a descriptor, which becomes the sink's, also where it fails: it is closed then. Nothing ever waits for a reader.
 * A line that a full socket, pipe or terminal does not take is lost (TP_LOST_LIMIT), and so are all lines once the
 * reader is gone (TP_LOST_NO_FILE), without a message.
 *
 *	socket         a message a line; or, of a stream socket, lines: what the socket takes
 *	               only a part of is completed before the next line
 *	regular file   written to where its offset is, or at its end with O_APPEND
 *	pipe, terminal or another character device
 *	               opened anew by /proc/self/fd, so that the flags of whoever has passed
 *	               it stay; one that has O_NONBLOCK is used as it is. Completed as of a
 *	               stream socket
 *
 * NULL with errno set:
 *	EBADF    it is not open for writing
 *	EINVAL   it is none of these
 *	ENOTSUP  it can't be opened anew, after a message that says so and what will do
 *	ENOMEM
 */
struct tp_sink *tp_text_descriptor_sink(int fd);

/*
 * The same on a socket that is connected to a listener of this path: of SOCK_SEQPACKET, SOCK_DGRAM or SOCK_STREAM. If the
 * program closes it, it is connected again. NULL with errno set:
 *	EPROTOTYPE    the path has another kind of socket
 *	EAGAIN        the listener does not accept the connections that it has
 *	ENAMETOOLONG  more than 107 bytes
 *	others        what connect() said; ENOMEM
 */
struct tp_sink *tp_text_socket_sink(const char *path);

#endif /* TP_TEXT_H */
