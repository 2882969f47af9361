/* SPDX-License-Identifier: MIT */
/*
 * base/directory.h - what is in a directory, as by readdir(3), but safe in signal handlers.
 */
#ifndef TP_DIRECTORY_H
#define TP_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tp_directory {
	int fd;    /* of its own */
	int error; /* an errno value; then there is no next one */
	const char *name; /* the last that was returned */
	size_t at, len;
	char entries[2048] __attribute__((aligned(8)));
};

/* dir is a descriptor of the directory, and stays so. An error is in the structure. */
void tp_directory_open(struct tp_directory *directory, int dir);

/* Without "." and "..". NULL: that was all, or there is an error. The name is there until the next call. */
const char *tp_directory_next(struct tp_directory *directory);

/* Whether the entry, the last that was returned, is S_IFREG, S_IFDIR, ... itself: no link is followed. */
bool tp_directory_is(const struct tp_directory *directory, mode_t type);

void tp_directory_close(struct tp_directory *directory);

#endif /* TP_DIRECTORY_H */
