/* SPDX-License-Identifier: MIT */
/*
 * sinks/text/file.c - a text sink on a file of the runtime's own, by name,
 * which the program may close or use otherwise.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/memory.h"
#include "base/own_file.h"
#include "sinks/text/text.h"

struct text_file {
	struct text_file *next;
	struct tp_own_file own;
	char *path; /* to open it again by; NULL where that is not possible */
};

/* All that there are, which stay: leak checkers don't look into a FILE. Only the start of the process adds to them. */
static struct text_file *files;

/*
 * Never made empty: programs that this one starts inherit TP_OUTPUT, and
 * write to the same file.
 */
static int open_append(const char *name, int flags)
{
	return open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | flags, 0666);
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

/* The descriptor; after the program has closed it, another one. -1 with errno set where there is none. */
static int descriptor_of(struct text_file *text)
{
	int fd = tp_own_file_descriptor(&text->own);

	if (fd >= 0)
		return fd;
	errno = EBADF;
	if (!text->path || !take(text, open_append(text->path, O_NONBLOCK)))
		return -1;
	return tp_own_file_descriptor(&text->own);
}

/* As fopencookie() wants it: what is missing is an error, and errno says which. */
static ssize_t text_write(void *cookie, const char *data, size_t size)
{
	struct text_file *text = cookie;
	const int fd = descriptor_of(text);
	size_t done = 0;

	if (fd < 0)
		return 0;
	while (done < size) {
		ssize_t n = write(fd, data + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int text_close(void *cookie)
{
	struct text_file *text = cookie;

	tp_own_file_close(&text->own);
	free(text->path);
	free(text);
	return 0;
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
		text->path = realpath(name, NULL); /* the program may change its directory */
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
