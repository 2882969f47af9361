/* SPDX-License-Identifier: MIT */
#include "parquet/packed.h"

#include <string.h>

/* Deltas come in blocks, which have parts with a width of their own. */
#define BLOCK 128
#define PARTS 4
#define PART (BLOCK / PARTS)

void packed_varint(struct tp_buffer *to, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		tp_buffer_put(to, &(char){(char)(number | 0x80)}, 1);
	tp_buffer_put(to, &(char){(char)number}, 1);
}

static void put_signed(struct tp_buffer *to, int64_t number)
{
	packed_varint(to, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

unsigned int packed_width(uint64_t number)
{
	return number ? 64 - (unsigned int)__builtin_clzll(number) : 0;
}

/* A byte that is not full. */
struct bits {
	struct tp_buffer *to;
	unsigned int byte, nr;
};

static void put_bits(struct bits *bits, uint64_t number, unsigned int width)
{
	while (width) {
		const unsigned int nr = width < 8 - bits->nr ? width : 8 - bits->nr;
		bits->byte |= ((unsigned int)number & ((1u << nr) - 1)) << bits->nr;
		bits->nr += nr;
		number >>= nr;
		width -= nr;
		if (bits->nr == 8) {
			tp_buffer_put(bits->to, &(char){(char)bits->byte}, 1);
			bits->byte = bits->nr = 0;
		}
	}
}

void packed_run(struct tp_buffer *to, const char *numbers, size_t nr, unsigned int width)
{
	const size_t groups = (nr + 7) / 8;
	struct bits bits = {.to = to};

	tp_buffer_put(to, &(char){(char)width}, 1);
	packed_varint(to, groups << 1 | 1);
	for (size_t i = 0; i < 8 * groups; i++) {
		uint32_t number = 0;
		if (i < nr)
			memcpy(&number, numbers + i * sizeof(number), sizeof(number));
		put_bits(&bits, number, width);
	}
}

static uint64_t number_at(const char *numbers, size_t i)
{
	uint64_t number;

	memcpy(&number, numbers + i * sizeof(number), sizeof(number));
	return number;
}

static void put_parts(struct tp_buffer *to, const uint64_t *numbers)
{
	struct bits bits = {.to = to};
	unsigned char widths[PARTS];

	for (size_t part = 0; part < PARTS; part++) {
		uint64_t all = 0;
		for (size_t i = 0; i < PART; i++)
			all |= numbers[part * PART + i];
		widths[part] = (unsigned char)packed_width(all);
	}
	tp_buffer_put(to, (const char *)widths, sizeof(widths));
	for (size_t i = 0; i < BLOCK; i++)
		put_bits(&bits, numbers[i], widths[i / PART]);
}

/* The deltas of the numbers from the one at first on. */
static void put_block(struct tp_buffer *to, const char *numbers, size_t first, size_t nr)
{
	const size_t nr_here = nr - first < BLOCK ? nr - first : BLOCK;
	uint64_t deltas[BLOCK];
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < nr_here; i++) {
		deltas[i] = number_at(numbers, first + i) - number_at(numbers, first + i - 1);
		if ((int64_t)deltas[i] < least)
			least = (int64_t)deltas[i];
	}
	for (size_t i = 0; i < BLOCK; i++)
		deltas[i] = i < nr_here ? deltas[i] - (uint64_t)least : 0;
	put_signed(to, least);
	put_parts(to, deltas);
}

void packed_deltas(struct tp_buffer *to, const char *numbers, size_t nr)
{
	packed_varint(to, BLOCK);
	packed_varint(to, PARTS);
	packed_varint(to, nr);
	put_signed(to, (int64_t)number_at(numbers, 0));
	for (size_t i = 1; i < nr; i += BLOCK)
		put_block(to, numbers, i, nr);
}
