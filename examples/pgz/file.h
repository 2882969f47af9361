/* SPDX-License-Identifier: MIT */
/*
 * file.h - compressing one file: from its name to its NAME.gz.
 */
#ifndef PGZ_FILE_H
#define PGZ_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct block;
struct pool;

/* What all files of a run share. */
struct run {
	int level;         /* 1 to 9 */
	size_t block_size; /* bytes */
	bool to_stdout;
	bool force;

	struct pool *pool;
	struct block *blocks; /* a ring: what may be on its way at a time, and so what bounds the memory used */
	size_t nr_blocks;     /* at least 2: a block's window is copied from the one in front of it */
};

enum file_result {
	FILE_DONE,
	FILE_FAILED, /* has been reported, and no output of it stays behind */
	FILE_BROKEN, /* has been reported, and standard output is of no use any more */
};

/* name is "-" for standard input, which is compressed to standard output. */
enum file_result compress_file(struct run *run, const char *name);

#endif /* PGZ_FILE_H */
