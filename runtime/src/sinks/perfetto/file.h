/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/file.h - the file of a Perfetto sink, which grows by chunks: file.c. Errors are errno values. In
 * tp_guard_enter(), but for the first.
 */
#ifndef TP_PERFETTO_FILE_H
#define TP_PERFETTO_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "sinks/perfetto/sink.h"

/* Chunks and what is in them begin at multiples of that: a head is one store. */
#define TP_CHUNK_ALIGN 8u

/* Bytes of the file, for one stream. */
struct tp_perfetto_chunk {
	unsigned char *memory; /* where they are written: the file's, or in front of it */
	unsigned char *file;   /* mapped */
	uint64_t at;           /* in the file */
	size_t size;
};

/* The head of a piece of the file that readers skip: so many bytes with the head itself, a multiple of TP_CHUNK_ALIGN. */
uint64_t tp_perfetto_padding(size_t size);

/* Where the name leads to, and what processes share; then the file itself, with its header. To be closed in any case. */
int tp_perfetto_file_begin(struct tp_perfetto_sink *sink, const char *name);
int tp_perfetto_file_begin_in(struct tp_perfetto_sink *sink, int fd, const char *name); /* fd becomes the sink's */
int tp_perfetto_file_make(struct tp_perfetto_sink *sink);
void tp_perfetto_file_close(struct tp_perfetto_sink *sink);

/* In a forked child: the file is its parent's, too, or, by %p, one that is yet to be made. False: there is no memory. */
bool tp_perfetto_file_inherit(struct tp_perfetto_sink *sink);

/* A new chunk at the end, all of it padding. The number of a new sequence. */
int tp_perfetto_chunk_claim(struct tp_perfetto_sink *sink, size_t size, struct tp_perfetto_chunk *chunk);
uint32_t tp_perfetto_sequence(struct tp_perfetto_sink *sink);

/*
 * Where packets are copied: these bytes become the file's, with padding behind them, and those of the head at from come last; with
 * to as from, only these.
 */
int tp_perfetto_chunk_copy(const struct tp_perfetto_chunk *chunk, size_t from, size_t to);

/* What is behind used is not needed any more: the file ends there, or has a hole. The chunk is no more mapped. */
void tp_perfetto_chunk_end(struct tp_perfetto_sink *sink, struct tp_perfetto_chunk *chunk, size_t used);
void tp_perfetto_chunk_unmap(struct tp_perfetto_chunk *chunk);

#endif /* TP_PERFETTO_FILE_H */
