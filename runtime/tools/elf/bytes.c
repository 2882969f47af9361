/* SPDX-License-Identifier: MIT */
#include "elf/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_SIZE ((size_t)64 << 10)

int bytes_open(struct bytes *bytes, const char *path)
{
	struct stat st;

	*bytes = (struct bytes){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
	if (bytes->fd < 0 || fstat(bytes->fd, &st) < 0)
		return errno;
	bytes->size = (uint64_t)st.st_size;
	return S_ISDIR(st.st_mode) ? EISDIR : S_ISREG(st.st_mode) ? 0 : EINVAL;
}

/* The window in which the offset is; NULL: it can't be read. */
static const struct bytes_window *window_of(struct bytes *bytes, uint64_t offset)
{
	const uint64_t number = offset / WINDOW_SIZE;
	struct bytes_window *window = &bytes->windows[number % BYTES_WINDOWS];

	if (window->data && window->at == number * WINDOW_SIZE && window->len)
		return window;
	if (!window->data)
		window->data = malloc(WINDOW_SIZE);
	if (!window->data)
		return NULL;
	window->at = number * WINDOW_SIZE;
	window->len = 0;
	while (window->len < WINDOW_SIZE) {
		const ssize_t got = pread(bytes->fd, window->data + window->len, WINDOW_SIZE - window->len,
					  (off_t)(window->at + window->len));
		if (got > 0)
			window->len += (size_t)got;
		else if (got == 0 || errno != EINTR)
			break;
	}
	return window;
}

bool bytes_read(struct bytes *bytes, uint64_t offset, void *to, size_t size)
{
	unsigned char *at = to;

	if (offset > bytes->size || size > bytes->size - offset)
		return false;
	while (size) {
		const struct bytes_window *window = window_of(bytes, offset);
		const size_t skip = window ? (size_t)(offset - window->at) : 0;
		if (!window || window->len <= skip)
			return false;
		const size_t part = window->len - skip < size ? window->len - skip : size;
		memcpy(at, window->data + skip, part);
		at += part;
		offset += part;
		size -= part;
	}
	return true;
}

void bytes_close(struct bytes *bytes)
{
	for (size_t i = 0; i < BYTES_WINDOWS; i++)
		free(bytes->windows[i].data);
	if (bytes->fd >= 0)
		close(bytes->fd);
	*bytes = (struct bytes){.fd = -1};
}
