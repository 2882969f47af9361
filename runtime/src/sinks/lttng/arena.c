/* SPDX-License-Identifier: MIT */
/*
 * sinks/lttng/arena.c - the memory of the descriptions, which are many small pieces
 * and stay for ever.
 */
#include <string.h>

#include "base/text.h"
#include "sinks/lttng/lttng.h"

#ifdef TP_HAS_LTTNG

#define CHUNK_SIZE ((size_t)16 << 10)
#define ALIGN ((size_t)16)

struct tp_lttng_chunk {
	struct tp_lttng_chunk *next; /* by which leak checkers find them all */
	size_t left; /* bytes at end */
	char *end;
};

static size_t align_up(size_t size)
{
	return (size + ALIGN - 1) & ~(ALIGN - 1);
}

static struct tp_lttng_chunk *chunk_new(struct tp_lttng_arena *arena, size_t size)
{
	size_t head = align_up(sizeof(struct tp_lttng_chunk));
	size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
	struct tp_lttng_chunk *chunk = tp_malloc(head + room);

	if (!chunk)
		return NULL;
	memset(chunk, 0, head + room);
	*chunk = (struct tp_lttng_chunk){.next = arena->chunks, .left = room, .end = (char *)chunk + head + room};
	arena->chunks = chunk;
	return chunk;
}

void *tp_lttng_alloc(struct tp_lttng_arena *arena, size_t size)
{
	struct tp_lttng_chunk *chunk = arena->chunks;

	size = align_up(size);
	if (!chunk || chunk->left < size)
		chunk = chunk_new(arena, size);
	if (!chunk)
		return NULL;
	void *memory = chunk->end - chunk->left;
	chunk->left -= size;
	return memory;
}

char *tp_lttng_strdup(struct tp_lttng_arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = tp_lttng_alloc(arena, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

#endif
