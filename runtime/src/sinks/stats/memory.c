/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/memory.c - the memory that counts are in, and the lock that
 * guards them.
 */
#include <sys/mman.h>

#include "sinks/stats/stats.h"

struct tp_mutex tp_stats_lock = TP_MUTEX_INIT(TP_RANK_STATS, "tp_stats_lock");

#define CHUNK ((size_t)16 << 10)
#define ALIGN sizeof(uint64_t)

struct tp_stats_chunk {
	struct tp_stats_chunk *next;
	size_t size;
};

static struct tp_stats_chunk *chunk_new(struct tp_stats_arena *arena, size_t size)
{
	struct tp_stats_chunk *chunk =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (chunk == MAP_FAILED)
		return NULL;
	*chunk = (struct tp_stats_chunk){.next = arena->chunks, .size = size};
	arena->chunks = chunk;
	return chunk;
}

void *tp_stats_alloc(struct tp_stats_arena *arena, size_t size)
{
	struct tp_stats_chunk *chunk;

	size = (size + ALIGN - 1) & ~(ALIGN - 1);
	if (size > CHUNK / 4) { /* mapped by itself, so that what is left of the chunk is not wasted */
		chunk = chunk_new(arena, size + sizeof(*chunk));
		return chunk ? chunk + 1 : NULL;
	}
	if (size > arena->left) {
		chunk = chunk_new(arena, CHUNK);
		if (!chunk)
			return NULL;
		arena->free = (char *)(chunk + 1);
		arena->left = CHUNK - sizeof(*chunk);
	}
	void *memory = arena->free;
	arena->free += size;
	arena->left -= size;
	return memory;
}

void tp_stats_arena_free(struct tp_stats_arena *arena)
{
	struct tp_stats_chunk *next;

	for (struct tp_stats_chunk *chunk = arena->chunks; chunk; chunk = next) {
		next = chunk->next;
		munmap(chunk, chunk->size);
	}
	*arena = (struct tp_stats_arena){.chunks = NULL};
}
