/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/file.c - a text sink on a file of the runtime's own, by name,
 * which the program may close or use otherwise, and others rename.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "base/text.h"
#include "record/record.h"
#include "sinks/text/file.h"
#include "sinks/text/rest.h"
#include "sinks/text/text.h"

struct text_file {
	struct tp_text text;
	struct tp_guarded_fd own;
	struct tp_text_place place;
	time_t looked; /* when, in seconds, was the name looked at */
};

/*
 * Never made empty: programs that this one starts inherit TP_OUTPUT, and
 * write to the same file.
 */
static int open_append(const char *name, int flags)
{
	return tp_file_open(name, O_APPEND | flags, 0600);
}

static bool take(struct text_file *file, int fd)
{
	errno = tp_guarded_fd_take(&file->own, fd);
	if (errno)
		return false;
	tp_guarded_fd_mark(&file->own);
	return true;
}

static bool borrow(struct text_file *file, int fd)
{
	errno = tp_guarded_fd_borrow(&file->own, fd);
	return errno == 0;
}

/*
 * The file of the name, as for tp_guarded_fd_get(). The path had no link in it when
 * the file was opened first: one that stands in the file's place now is not
 * followed, nor is a pipe written to.
 */
static int open_again(const void *data)
{
	const struct text_file *file = data;
	struct stat st;

	if (!tp_text_place_is_there(&file->place)) {
		errno = EBADF;
		return -1;
	}
	int fd = open_append(file->place.path, O_NONBLOCK | O_NOFOLLOW);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EBADF;
		fd = -1;
	}
	return fd;
}

/* True if another file has the name by now, or none. Asked once a second, as each question is a system call. */
static bool was_renamed(struct text_file *file)
{
	struct timespec now;
	struct stat st;

	if (!file->place.path || tp_sandboxed)
		return false;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec == file->looked)
		return false;
	file->looked = now.tv_sec;
	return lstat(file->place.path, &st) == 0 ? st.st_dev != file->own.device || st.st_ino != file->own.inode : errno == ENOENT;
}

/* After logrotate has renamed the file, the lines go to a new one of the name. If that fails, to the old one still. */
static void follow_the_name(struct text_file *file)
{
	const struct tp_guarded_fd before = file->own;
	int fd = open_again(file);

	if (fd < 0 || !take(file, fd))
		return;
	tp_guarded_fd_close(&before);
	file->text.rest.len = 0;
}

/* A line a write, however long, so that several processes' stay apart. */
static void file_write(struct tp_text *text, const struct trace_seq *line)
{
	struct text_file *file = (struct text_file *)text;
	int error;

	if (!tp_text_lock(text))
		return;
	if (was_renamed(file))
		follow_the_name(file);
	const int fd = tp_guarded_fd_get(&file->own, open_again, file, true, &error);
	if (fd >= 0)
		error = tp_text_put_line(&file->text.rest, fd, line);
	if (error)
		tp_text_write_failed(text, error, 1);
	tp_text_unlock(text);
}

/* What the parent has begun, it completes. */
static void file_after_fork_child(struct tp_sink *head)
{
	((struct tp_text *)head)->rest.len = 0;
	tp_text_after_fork_child(head);
}

/* ---- Opening and closing ---- */

static void free_file(struct text_file *file)
{
	tp_guarded_fd_close(&file->own);
	tp_text_place_forget(&file->place);
	free(file->text.rest.text);
	free(file);
}

static void file_finish(struct tp_text *text)
{
	const struct text_file *file = (const struct text_file *)text;
	const int fd = tp_guarded_fd_descriptor(&file->own);
	const int error = fd < 0 ? EBADF : tp_text_put_rest(&text->rest, fd);

	if (text->rest.len)
		tp_text_write_failed(text, error, 1);
}

static int file_close(struct tp_sink *head)
{
	struct text_file *file = (struct text_file *)head;

	file_finish(&file->text);
	const int error = -file->text.error;
	tp_sink_tell_lost(head);
	free_file(file);
	return error;
}

static const struct tp_sink_ops file_ops = {
	.name = "text",
	.reserve = tp_text_reserve,
	.commit = tp_text_commit,
	.before_fork = tp_text_before_fork,
	.after_fork_parent = tp_text_after_fork_parent,
	.after_fork_child = file_after_fork_child,
	.close = file_close,
};

/*
 * The program's stderr and stdout are used as it has them, but not its streams,
 * as a signal handler may have interrupted the program in the middle of its use
 * of them. No copy of the descriptor is kept: a shell that waits for
 * the end of a pipe would wait for as long as the program runs in the
 * background, which has closed its own.
 */
static bool open_named(struct text_file *file, const char *name)
{
	if (strcmp(name, "stderr") == 0)
		return borrow(file, STDERR_FILENO);
	if (strcmp(name, "stdout") == 0)
		return borrow(file, STDOUT_FILENO);
	const int fd = open_append(name, 0);
	if (fd < 0 && errno == EACCES)
		tp_complain_of_foreign(name);
	if (!take(file, fd))
		return false;
	if (S_ISREG(file->own.type))
		tp_text_place_remember(&file->place, name);
	return true;
}

static bool text_open(struct text_file *file, const char *name)
{
	if (!open_named(file, name))
		return false;
	errno = ENOMEM;
	return tp_text_rest_begin(&file->text.rest, S_ISCHR(file->own.type) ? tp_text_write_to_device : tp_text_write);
}

struct tp_sink *tp_text_file_sink(const char *name)
{
	struct text_file *file = tp_malloc(sizeof(*file));

	if (!file) {
		errno = ENOMEM;
		return NULL;
	}
	*file = (struct text_file){.text.finish = file_finish, .own = TP_GUARDED_FD_NONE};
	int error = text_open(file, name) ? -tp_text_open(&file->text, &file_ops, file_write) : errno;
	if (!error)
		return &file->text.head;
	free_file(file);
	errno = error;
	return NULL;
}

/* ---- Where a sink's own file or socket is ---- */

void tp_text_place_remember(struct tp_text_place *place, const char *name)
{
	struct stat st;
	char *path = realpath(name, NULL);
	char *directory = path ? strdup(path) : NULL;

	if (directory) {
		char *slash = strrchr(directory, '/');
		slash[slash == directory] = 0; /* of "/name" the slash stays */
	}
	if (!directory || stat(directory, &st) != 0) {
		free(path);
		free(directory);
		return;
	}
	*place = (struct tp_text_place){.path = path, .directory = directory, .device = st.st_dev, .inode = st.st_ino};
}

void tp_text_place_forget(struct tp_text_place *place)
{
	free(place->path);
	free(place->directory);
	*place = (struct tp_text_place){.path = NULL};
}

bool tp_text_place_is_there(const struct tp_text_place *place)
{
	struct stat st;

	return place->path && stat(place->directory, &st) == 0 && st.st_dev == place->device && st.st_ino == place->inode;
}
