/* SPDX-License-Identifier: MIT */
/* archive.h - writes a tar archive that any tar unpacks, and read/pack.h reads. */
#ifndef ARCHIVE_H
#define ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "client/new_file.h"

struct archive {
	struct new_file new;
	uint64_t time; /* that all files in it have, in seconds from the epoch */
	uint64_t bytes; /* so far */
};

/* All of these say what is wrong where they return false. */
bool archive_open(struct archive *archive, const char *path);

/* Begins a file, of which then come size bytes by archive_write(), and archive_end_file(). */
bool archive_begin_file(struct archive *archive, const char *name, uint64_t size);
bool archive_write(struct archive *archive, const void *data, size_t size);
bool archive_end_file(struct archive *archive, uint64_t size);

bool archive_finish(struct archive *archive);

/* Takes the file away, where it was not finished. */
void archive_close(struct archive *archive);

#endif /* ARCHIVE_H */
