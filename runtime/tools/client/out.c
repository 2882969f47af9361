/* SPDX-License-Identifier: MIT */
#include "client/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fail_msg.h"

#define BUFFER_SIZE ((size_t)4 << 20)

bool out_open(struct out *out)
{
	struct stat status;

	*out = (struct out){.fd = STDOUT_FILENO};
	/* tp.c has put something in the place of what was closed; it can't be written. */
	const int flags = fcntl(STDOUT_FILENO, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(STDOUT_FILENO, &status) != 0)
		return fail_msg("standard output is closed: there is nowhere to write to");
	out->buffer = malloc(BUFFER_SIZE);
	if (!out->buffer)
		return fail_no_memory();
	if (S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode))
		return true;
	/* The flags of the open file are also those of the shell: so another one is opened. */
	int fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	out->own = fd >= 0;
	out->waits = fd < 0;
	if (fd >= 0)
		out->fd = fd;
	return true;
}

void out_close(struct out *out)
{
	if (out->own)
		close(out->fd);
	free(out->buffer);
	*out = (struct out){.fd = -1};
}

bool out_has_room(const struct out *out)
{
	return out->end - out->begin <= BUFFER_SIZE / 2;
}

char *out_room(struct out *out, size_t size)
{
	if (out->begin == out->end)
		out->begin = out->end = 0;
	if (BUFFER_SIZE - out->end >= size)
		return out->buffer + out->end;
	if (!out_has_room(out))
		return NULL;
	memmove(out->buffer, out->buffer + out->begin, out->end - out->begin);
	out->end -= out->begin;
	out->begin = 0;
	return out->buffer + out->end;
}

void out_add(struct out *out, size_t len)
{
	out->end += len;
}

bool out_put(struct out *out, const char *text, size_t len)
{
	char *room = out_room(out, len);

	if (room) {
		memcpy(room, text, len);
		out_add(out, len);
	}
	return room != NULL;
}

bool out_is_waiting(const struct out *out)
{
	return out->begin != out->end && !out->failed;
}

static ssize_t write_some(const struct out *out, size_t len)
{
	struct pollfd polled = {.fd = out->fd, .events = POLLOUT};
	ssize_t n = send(out->fd, out->buffer + out->begin, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n >= 0 || errno != ENOTSOCK)
		return n;
	/* A pipe that is ready takes so many bytes. */
	if (out->waits && len > PIPE_BUF)
		len = PIPE_BUF;
	if (out->waits && poll(&polled, 1, 0) <= 0) {
		errno = EAGAIN;
		return -1;
	}
	return write(out->fd, out->buffer + out->begin, len);
}

bool out_write(struct out *out)
{
	while (out_is_waiting(out)) {
		ssize_t n = write_some(out, out->end - out->begin);
		if (n > 0) {
			out->begin += (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			return true;
		} else if (n == 0 || errno != EINTR) {
			out->error = errno;
			out->failed = true;
		}
	}
	return !out->failed;
}

void out_finish(struct out *out, int ms)
{
	struct pollfd polled = {.fd = out->fd, .events = POLLOUT};
	struct timespec now, until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	for (;;) {
		if (!out_write(out) || !out_is_waiting(out))
			break;
		clock_gettime(CLOCK_MONOTONIC, &now);
		const int64_t left = ms - (int64_t)(now.tv_sec - until.tv_sec) * 1000 - (now.tv_nsec - until.tv_nsec) / 1000000;
		if (left <= 0)
			break;
		poll(&polled, 1, (int)left);
	}
}
