/* SPDX-License-Identifier: MIT */
/*
 * deflate.h - compressing one block, so that the blocks of a file, each
 * compressed on its own, are one deflate stream when written one behind the other.
 */
#ifndef PGZ_DEFLATE_H
#define PGZ_DEFLATE_H

#include <stddef.h>

struct block;
struct deflater;

/* No block of size bytes is longer than this when compressed. */
size_t deflate_bound(size_t size);

/* What a thread compresses with, at level 1 (fast) to 9 (best). NULL: no memory. */
struct deflater *deflater_create(int level);
void deflater_destroy(struct deflater *deflater);

/* Sets the block's out, out_len, crc and error. */
void deflate_block(struct deflater *deflater, struct block *block);

#endif /* PGZ_DEFLATE_H */
