/* SPDX-License-Identifier: MIT */
/*
 * packed.h - numbers in as few bits as they need. https://github.com/apache/parquet-format, Encodings.md: the run of "RLE/bit-packing
 * hybrid", and "delta encoding". The first bit of a number is the lowest one of a byte.
 */
#ifndef PARQUET_PACKED_H
#define PARQUET_PACKED_H

#include "base/text.h"

/* Seven bits a byte, the lowest first: a byte with the highest bit is not the last one. */
void packed_varint(struct tp_buffer *to, uint64_t number);

/* How many bits the number needs; 0: none. */
unsigned int packed_width(uint64_t number);

/* One run of uint32_t numbers, each in so many bits, behind a byte that says how many. */
void packed_run(struct tp_buffer *to, const char *numbers, size_t nr, unsigned int width);

/* uint64_t numbers, at least one, each by how much it is more than the one before. */
void packed_deltas(struct tp_buffer *to, const char *numbers, size_t nr);

#endif /* PARQUET_PACKED_H */
