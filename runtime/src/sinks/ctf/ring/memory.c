/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/memory.c - memory for the descriptions of streams, packets and directories, which are needed in signal handlers
 * that have interrupted malloc.
 */
#include <sys/mman.h>

#include "sinks/ctf/ring/memory.h"
#include "sinks/ctf/sink.h"

#define CHUNK ((size_t)64 << 10)

void *tp_ctf_description_new(struct tp_ctf_sink *sink, size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if (sink->ring.chunk_left < size) {
		char *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (chunk == MAP_FAILED)
			return NULL;
		*(char **)(void *)chunk = sink->ring.chunk; /* the one before it */
		sink->ring.chunk = chunk;
		sink->ring.chunk_left = CHUNK - 16;
	}
	sink->ring.chunk_left -= size;
	return sink->ring.chunk + CHUNK - sink->ring.chunk_left - size;
}

void tp_ctf_descriptions_free(struct tp_ctf_sink *sink)
{
	while (sink->ring.chunk) {
		char *chunk = sink->ring.chunk;
		sink->ring.chunk = *(char **)(void *)chunk;
		munmap(chunk, CHUNK);
	}
}
