/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - a file's bytes, at any offset. They are not mapped: a file that
 * becomes shorter meanwhile, as one that is being linked, would end the process.
 */
#ifndef ELF_BYTES_H
#define ELF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES_WINDOWS 16u

/* A piece of the file that was read lately. */
struct bytes_window {
	unsigned char *data; /* NULL: none */
	uint64_t at;
	size_t len;
};

struct bytes {
	int fd;
	uint64_t size;
	struct bytes_window windows[BYTES_WINDOWS];
};

/* Opens a regular file; never waits. 0, or an errno value; EINVAL: it is no regular file. To be closed in any case. */
int bytes_open(struct bytes *bytes, const char *path);

/* All of them are read, or false: not all of them are in the file. */
bool bytes_read(struct bytes *bytes, uint64_t offset, void *to, size_t size);

void bytes_close(struct bytes *bytes);

#endif /* ELF_BYTES_H */
