/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/file.c - a text sink on a file of the runtime's own, by name,
 * which the program may close or use otherwise, and others rename.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/own_file.h"
#include "base/sandbox.h"
#include "sinks/text/text.h"

struct text_file {
	struct text_file *next;
	struct tp_own_file own;
	char *path;      /* to open it again by; NULL where that is not possible */
	char *directory; /* of path, with path */
	dev_t device;    /* of the directory, with inode */
	ino_t inode;
	time_t looked; /* when, in seconds, was path looked at */
};

/* All that there are, which stay: leak checkers don't look into a FILE. Only the start of the process adds to them. */
static struct text_file *files;

/*
 * Never made empty: programs that this one starts inherit TP_OUTPUT, and
 * write to the same file.
 */
static int open_append(const char *name, int flags)
{
	return open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | flags, 0600);
}

static bool take(struct text_file *text, int fd)
{
	errno = tp_own_file_take(&text->own, fd);
	return errno == 0;
}

static bool borrow(struct text_file *text, int fd)
{
	errno = tp_own_file_borrow(&text->own, fd);
	return errno == 0;
}

/* The directory is the one that it was, and not one of the same name in a jail. */
static bool directory_is_the_same(const struct text_file *text)
{
	struct stat st;

	return stat(text->directory, &st) == 0 && st.st_dev == text->device && st.st_ino == text->inode;
}

/*
 * The file of the name, as for tp_own_file_get(). path had no link in it when
 * the file was opened first: one that stands in the file's place now is not
 * followed, nor is a pipe written to.
 */
static int open_again(const void *data)
{
	const struct text_file *text = data;
	struct stat st;

	if (!text->path || !directory_is_the_same(text)) {
		errno = EBADF;
		return -1;
	}
	int fd = open_append(text->path, O_NONBLOCK | O_NOFOLLOW);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EBADF;
		fd = -1;
	}
	return fd;
}

/* True if another file has the name by now, or none. Asked once a second, as each question is a system call. */
static bool was_renamed(struct text_file *text)
{
	struct timespec now;
	struct stat st;

	if (!text->path || tp_sandboxed)
		return false;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec == text->looked)
		return false;
	text->looked = now.tv_sec;
	return lstat(text->path, &st) == 0 ? st.st_dev != text->own.device || st.st_ino != text->own.inode : errno == ENOENT;
}

/* After logrotate has renamed the file, the lines go to a new one of the name. If that fails, to the old one still. */
static void follow_the_name(struct text_file *text)
{
	const struct tp_own_file before = text->own;
	int fd = open_again(text);

	if (fd >= 0 && take(text, fd))
		tp_own_file_close(&before);
}

/* As fopencookie() wants it: what is missing is an error, and errno says which. */
static ssize_t text_write(void *cookie, const char *data, size_t size)
{
	struct text_file *text = cookie;
	int error;

	if (was_renamed(text))
		follow_the_name(text);
	const int fd = tp_own_file_get(&text->own, open_again, text, true, &error);
	if (fd >= 0)
		error = tp_file_write(fd, data, size);
	errno = error;
	return error ? 0 : (ssize_t)size;
}

static int text_close(void *cookie)
{
	struct text_file *text = cookie;

	tp_own_file_close(&text->own);
	free(text->path);
	free(text->directory);
	free(text);
	return 0;
}

/* The program may change its directory. Where there is no memory, the file is not opened again. */
static void remember_path(struct text_file *text, const char *name)
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
	text->path = path;
	text->directory = directory;
	text->device = st.st_dev;
	text->inode = st.st_ino;
}

/*
 * The program's stderr and stdout are used as it has them, by a stream of our
 * own, as a signal handler may have interrupted the program in the middle of
 * its use of its own. No copy of the descriptor is kept: a shell that waits for
 * the end of a pipe would wait for as long as the program runs in the
 * background, which has closed its own.
 */
static bool text_open(struct text_file *text, const char *name)
{
	struct stat st;

	if (strcmp(name, "stderr") == 0)
		return borrow(text, STDERR_FILENO);
	if (strcmp(name, "stdout") == 0)
		return borrow(text, STDOUT_FILENO);
	if (!take(text, open_append(name, 0)))
		return false;
	if (fstat(tp_own_file_descriptor(&text->own), &st) == 0 && S_ISREG(st.st_mode))
		remember_path(text, name);
	return true;
}

struct tp_sink *tp_text_file_sink(const char *name)
{
	static const cookie_io_functions_t functions = {.write = text_write, .close = text_close};
	struct text_file *text = tp_malloc(sizeof(*text));

	if (!text) {
		errno = ENOMEM;
		return NULL;
	}
	*text = (struct text_file){.own = TP_OWN_FILE_NONE};
	if (!text_open(text, name)) {
		int error = errno;
		free(text);
		errno = error;
		return NULL;
	}
	FILE *file = fopencookie(text, "w", functions);
	if (!file) {
		text_close(text);
		errno = ENOMEM;
		return NULL;
	}
	/* A line a write, however long, so that several processes' stay apart; and no buffer from malloc. */
	setvbuf(file, NULL, _IONBF, 0);
	struct tp_sink *sink = tp_text_sink(file);
	if (!sink) {
		int error = errno;
		fclose(file);
		errno = error;
		return NULL;
	}
	text->next = files;
	files = text;
	return sink;
}
