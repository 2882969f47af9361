/* SPDX-License-Identifier: MIT */
/*
 * base/file.c - writing to files, in a program whose limits and signals are its own.
 */
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"

bool tp_file_size_allowed(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size;
}

int tp_file_write(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0) {
			at += n;
			len -= (size_t)n;
		}
	}
	return 0;
}
