/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/descriptor.c - a text sink on a descriptor that somebody else has
 * passed: a socket, a file, a pipe, a terminal; or on a socket by name. Nobody who reads there can make the program wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "base/text.h"
#include "record/record.h"
#include "sinks/text/file.h"
#include "sinks/text/rest.h"
#include "sinks/text/text.h"

enum kind {
	REGULAR,  /* takes all, or fails */
	MESSAGES, /* a socket that takes all or nothing */
	STREAM,   /* a socket that may take a part */
	OPENED,   /* a pipe, a terminal, ...: may take a part, too */
};

struct text_descriptor {
	struct tp_text text;
	struct tp_guarded_fd own;
	enum kind kind;
	struct tp_text_place place; /* of a socket by name ... */
	int type;                   /* ... which is of this type, SOCK_STREAM or another */
	bool gone;       /* the reader */
};

/* What a reader that is gone makes of a write; EIO is a terminal's. */
static bool says_gone(const struct text_descriptor *d, int error)
{
	return error == EPIPE || error == ECONNRESET || error == ECONNREFUSED || error == ENOTCONN ||
	       (error == EIO && d->kind == OPENED) || (error == ENOENT && d->place.path);
}

/* To a listener of this type, with room for as much as can be had. -1 with errno set. It waits for nobody. */
static int connect_to(const char *path, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int room = 4 << 20;
	uid_t owner;
	size_t len;

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	if (!tp_sandboxed && tp_file_is_foreign(path, &len, &owner)) {
		errno = EACCES;
		return -1;
	}
	const int fd = tp_above_standard(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	const int error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* What was passed has no name to open it by. */
static int open_again(const void *data)
{
	const struct text_descriptor *d = data;

	if (tp_text_place_is_there(&d->place))
		return connect_to(d->place.path, d->type);
	errno = EBADF;
	return -1;
}

static void lose(struct text_descriptor *d, int error)
{
	struct tp_sink *sink = &d->text.head;

	if (error == EMSGSIZE) {
		tp_sink_count_lost(sink, TP_LOST_TOO_LARGE);
	} else if (says_gone(d, error)) {
		__atomic_store_n(&d->gone, true, __ATOMIC_RELAXED);
		tp_sink_count_lost(sink, TP_LOST_NO_FILE);
	} else {
		tp_text_write_failed(&d->text, error, 1);
	}
}

static void descriptor_write(struct tp_text *text, const struct trace_seq *line)
{
	struct text_descriptor *d = (struct text_descriptor *)text;
	int error;

	if (!tp_text_lock(text))
		return;
	const uint64_t opened = d->own.opened;
	const int fd = tp_guarded_fd_get(&d->own, open_again, d, d->place.path != NULL, &error);
	if (d->own.opened != opened)
		d->text.rest.len = 0; /* the line has ended with the connection */
	if (fd >= 0)
		error = tp_text_put_line(&d->text.rest, fd, line);
	if (error)
		lose(d, error);
	tp_text_unlock(text);
}

/* For a reader that is gone, no line is printed. */
static bool descriptor_reserve(struct tp_record *rec)
{
	const struct text_descriptor *d = (const struct text_descriptor *)rec->sink;

	if (!__atomic_load_n(&d->gone, __ATOMIC_RELAXED))
		return tp_text_reserve(rec);
	tp_sink_count_lost(rec->sink, TP_LOST_NO_FILE);
	return false;
}

/* What the parent has begun, it completes. */
static void descriptor_after_fork_child(struct tp_sink *head)
{
	((struct tp_text *)head)->rest.len = 0;
	tp_text_after_fork_child(head);
}

static void free_descriptor(struct text_descriptor *d)
{
	tp_guarded_fd_close(&d->own);
	tp_text_place_forget(&d->place);
	free(d->text.rest.text);
	free(d);
}

static void descriptor_finish(struct tp_text *text)
{
	const struct text_descriptor *d = (const struct text_descriptor *)text;
	const int fd = tp_guarded_fd_descriptor(&d->own);

	if (fd >= 0 && !d->gone && tp_text_put_rest(&text->rest, fd) != 0)
		tp_sink_count_lost(&text->head, TP_LOST_LIMIT);
}

static int descriptor_close(struct tp_sink *head)
{
	struct text_descriptor *d = (struct text_descriptor *)head;
	int error = -d->text.error;

	descriptor_finish(&d->text);
	tp_sink_tell_lost(head);
	free_descriptor(d);
	return error;
}

static const struct tp_sink_ops descriptor_ops = {
	.name = "text",
	.reserve = descriptor_reserve,
	.commit = tp_text_commit,
	.before_fork = tp_text_before_fork,
	.after_fork_parent = tp_text_after_fork_parent,
	.after_fork_child = descriptor_after_fork_child,
	.close = descriptor_close,
};

/* ---- Opening: errors are errno values, and fd is closed where there is one ---- */

/* The descriptor of another open file, of the same pipe or terminal. */
static int open_anew(int *fd)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", *fd);
	const int anew = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_APPEND | O_CLOEXEC);
	const int error = errno;
	close(*fd);
	*fd = anew;
	if (anew >= 0)
		return 0;
	tp_complain("a text output can't be opened anew by %s: %s; pass a socket instead, or a descriptor with O_NONBLOCK", name,
		    tp_strerror(error));
	return ENOTSUP;
}

static int find_kind(int fd, enum kind *kind)
{
	socklen_t size = sizeof(int);
	struct stat st;
	int type;

	const int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || flags & O_PATH || fstat(fd, &st) != 0)
		return flags < 0 ? errno : EBADF;
	if (S_ISSOCK(st.st_mode)) {
		*kind = MESSAGES;
		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM)
			*kind = STREAM;
		return 0;
	}
	if ((flags & O_ACCMODE) == O_RDONLY)
		return EBADF;
	*kind = S_ISREG(st.st_mode) ? REGULAR : OPENED;
	return S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) ? 0 : EINVAL;
}

/*
 * What never waits is used as it is: so a pipe can come from another user. An open file of others is not marked: one of
 * several processes to which it was passed would change the others' mark.
 */
static int take(struct text_descriptor *d, int fd)
{
	const bool anew = d->kind == OPENED && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
	int error = anew ? open_anew(&fd) : 0;

	if (error)
		return error;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	error = tp_guarded_fd_take(&d->own, fd);
	if (!error && anew)
		tp_guarded_fd_mark(&d->own);
	return error;
}

/* NULL with errno set. */
static struct text_descriptor *descriptor_new(int fd)
{
	enum kind kind = REGULAR;
	int error = find_kind(fd, &kind);
	struct text_descriptor *d = error ? NULL : tp_malloc(sizeof(*d));

	if (!d) {
		close(fd);
		errno = error ? error : ENOMEM;
		return NULL;
	}
	*d = (struct text_descriptor){.text.finish = descriptor_finish, .own = TP_GUARDED_FD_NONE, .kind = kind};
	error = take(d, fd);
	if (!error && !tp_text_rest_begin(&d->text.rest, kind == MESSAGES || kind == STREAM ? tp_text_send : tp_text_write))
		error = ENOMEM;
	if (!error)
		return d;
	free_descriptor(d);
	errno = error;
	return NULL;
}

static struct tp_sink *sink_open(struct text_descriptor *d)
{
	int error = d ? -tp_text_open(&d->text, &descriptor_ops, descriptor_write) : errno;

	if (!error)
		return &d->text.head;
	if (d)
		free_descriptor(d);
	errno = error;
	return NULL;
}

struct tp_sink *tp_text_descriptor_sink(int fd)
{
	return sink_open(descriptor_new(fd));
}

struct tp_sink *tp_text_socket_sink(const char *path)
{
	static const int types[] = {SOCK_SEQPACKET, SOCK_DGRAM, SOCK_STREAM};
	size_t i = 0;
	int fd;

	while ((fd = connect_to(path, types[i])) < 0 && errno == EPROTOTYPE && i + 1 < sizeof(types) / sizeof(types[0]))
		i++;
	if (fd < 0 && errno == EACCES)
		tp_complain_of_foreign(path);
	struct text_descriptor *d = fd < 0 ? NULL : descriptor_new(fd);
	if (d) {
		d->type = types[i];
		tp_guarded_fd_mark(&d->own);
		tp_text_place_remember(&d->place, path);
	}
	return sink_open(d);
}
