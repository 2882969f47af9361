/* SPDX-License-Identifier: MIT */
/*
 * block.h - a block: a piece of a file on its way from the reader through a
 * compressing thread to the writer. It belongs to one of them at a time.
 */
#ifndef PGZ_BLOCK_H
#define PGZ_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far back deflate can refer: what a block needs of the data in front of it to compress as well as one stream. */
#define BLOCK_WINDOW 32768

struct block {
	/* set by the reader */
	const char *name;      /* the file's */
	unsigned long number;  /* in its file, from 0 */
	bool last;             /* of its file */
	unsigned char *window; /* the window_len bytes in front of in */
	size_t window_len;
	unsigned char *in;
	size_t in_len;

	/* set by the compressing thread */
	unsigned char *out;
	size_t out_len;
	uint32_t crc; /* of in */
	int error;    /* 0 or a negative errno value, and then there is no out */

	/* the pool's own */
	struct block *next;
	bool done;

	unsigned char *memory; /* that window and in point into */
};

/* nr blocks with room for size bytes each, to be freed by blocks_destroy(). NULL: no memory. */
struct block *blocks_create(size_t nr, size_t size);
void blocks_destroy(struct block *blocks, size_t nr);

/*
 * Reads up to size bytes from fd into block; less means that the file is at
 * its end, and the block its last. previous is the block in front of it, NULL
 * for a file's first. 0 or a negative errno value.
 */
int block_read(struct block *block, int fd, size_t size, const struct block *previous);

#endif /* PGZ_BLOCK_H */
