// SPDX-License-Identifier: MIT
/*
 * block.c - the memory of blocks, and reading a file into them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "deflate.h"

struct block *blocks_create(size_t nr, size_t size)
{
	struct block *blocks = calloc(nr, sizeof(*blocks));

	if (!blocks)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		blocks[i].memory = malloc(BLOCK_WINDOW + size);
		blocks[i].out = malloc(deflate_bound(size));
		if (!blocks[i].memory || !blocks[i].out) {
			blocks_destroy(blocks, nr);
			return NULL;
		}
		blocks[i].in = blocks[i].memory + BLOCK_WINDOW;
	}
	return blocks;
}

void blocks_destroy(struct block *blocks, size_t nr)
{
	for (size_t i = 0; blocks && i < nr; i++) {
		free(blocks[i].memory);
		free(blocks[i].out);
	}
	free(blocks);
}

/*
 * Puts the end of what the previous block has in window and in, which stand
 * behind each other, in front of this block's in. Only reads the previous
 * block: it may be in a compressing thread's hands.
 */
static void fill_window(struct block *block, const struct block *previous)
{
	size_t len = 0;

	if (previous) {
		len = previous->window_len + previous->in_len;
		if (len > BLOCK_WINDOW)
			len = BLOCK_WINDOW;
		memcpy(block->in - len, previous->in + previous->in_len - len, len);
	}
	block->window = block->in - len;
	block->window_len = len;
}

int block_read(struct block *block, int fd, size_t size, const struct block *previous)
{
	block->in_len = 0;
	while (block->in_len < size) {
		ssize_t n = read(fd, block->in + block->in_len, size - block->in_len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		block->in_len += (size_t)n;
	}
	block->last = block->in_len < size;
	block->number = previous ? previous->number + 1 : 0;
	fill_window(block, previous);
	return 0;
}
