// SPDX-License-Identifier: MIT
/*
 * deflate.c - compressing one block with zlib.
 *
 * Each block but a file's last ends with an empty stored block
 * (Z_SYNC_FLUSH), which brings the output to a whole byte, where the next
 * block can go on. Each but the first knows the 32 KiB in front of it as its
 * dictionary, which is what the decompressor will have seen by then.
 */
#include <errno.h>
#include <stdlib.h>

#include <zlib.h>

#include "pgz.h"

#include "block.h"
#include "deflate.h"

/* What Z_SYNC_FLUSH may add to the bound, which holds for Z_FINISH. */
#define SYNC_FLUSH_ROOM 16

/* Negative: a raw deflate stream with the largest window, without zlib's own header. */
#define RAW_WINDOW_BITS (-15)
#define DEFAULT_MEM_LEVEL 8

struct deflater {
	z_stream stream;
	int level;
};

size_t deflate_bound(size_t size)
{
	return compressBound(size) + SYNC_FLUSH_ROOM;
}

struct deflater *deflater_create(int level)
{
	struct deflater *deflater = calloc(1, sizeof(*deflater));

	if (!deflater)
		return NULL;
	deflater->level = level;
	if (deflateInit2(&deflater->stream, level, Z_DEFLATED, RAW_WINDOW_BITS, DEFAULT_MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(deflater);
		return NULL;
	}
	return deflater;
}

void deflater_destroy(struct deflater *deflater)
{
	if (!deflater)
		return;
	deflateEnd(&deflater->stream);
	free(deflater);
}

/* 0 or a negative errno value. */
static int deflate_data(z_stream *stream, struct block *block)
{
	size_t room = deflate_bound(block->in_len);
	int ret;

	if (deflateReset(stream) != Z_OK)
		return -EINVAL;
	if (block->window_len && deflateSetDictionary(stream, block->window, (uInt)block->window_len) != Z_OK)
		return -EINVAL;
	stream->next_in = block->in;
	stream->avail_in = (uInt)block->in_len;
	stream->next_out = block->out;
	stream->avail_out = (uInt)room;
	ret = deflate(stream, block->last ? Z_FINISH : Z_SYNC_FLUSH);
	block->out_len = room - stream->avail_out;
	/* A full buffer may have held back the rest of the flush. */
	if (ret != (block->last ? Z_STREAM_END : Z_OK) || stream->avail_out == 0)
		return -EOVERFLOW;
	return 0;
}

void deflate_block(struct deflater *deflater, struct block *block)
{
	block->crc = (uint32_t)crc32(crc32(0, NULL, 0), block->in, (uInt)block->in_len);
	block->error = deflate_data(&deflater->stream, block);
	if (!block->error)
		trace_pgz_block_end(block->name, block->number, block->in_len, block->out_len, block->crc,
				    deflater->level, block->last);
}
