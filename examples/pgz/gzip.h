/* SPDX-License-Identifier: MIT */
/*
 * gzip.h - writing a gzip member (RFC 1952) around the compressed blocks of a file.
 *
 * The functions return 0 or a negative errno value.
 */
#ifndef PGZ_GZIP_H
#define PGZ_GZIP_H

#include <stdint.h>
#include <time.h>

struct block;

struct gzip {
	int fd;
	uint32_t crc; /* of what went in so far */
	uint64_t in;  /* bytes, before compression */
	uint64_t out; /* bytes written, header and trailer included */
};

/* name is the original file's without directories, mtime when it was changed; NULL and 0 where there is none. */
int gzip_begin(struct gzip *gzip, int fd, const char *name, time_t mtime, int level);

/* The next block of the file: they must come in order, whatever order they were compressed in. */
int gzip_block(struct gzip *gzip, const struct block *block);

int gzip_end(struct gzip *gzip);

#endif /* PGZ_GZIP_H */
