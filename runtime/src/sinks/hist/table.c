/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/table.c - the memory of a histogram.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/text.h"
#include "sinks/hist/table.h"
#include "sinks/hist/variable.h"

/* Threads and handlers that are saving at one time may have one each, besides those that entries have. */
#define MORE_BLOCKS 64u

/* Where in an entry everything is. Returns the bytes behind the key. */
static uint32_t lay_out(struct tp_hist_table *table)
{
	const struct tp_hist_shape *shape = &table->shape;
	const uint32_t begin = (uint32_t)(sizeof(struct tp_count_entry) + shape->key_words * sizeof(uint64_t));
	uint32_t at = begin;

	for (uint32_t i = 0; i < shape->nr_variables; i++) {
		const uint32_t words = shape->variables[i] == TP_HIST_KEY_NUMBER ? 0 : TP_HIST_BLOB_WORDS;
		table->variables[i] = at;
		at += (uint32_t)(sizeof(struct tp_hist_variable) + words * sizeof(uint64_t));
	}
	table->tracked = at;
	table->saved = at + shape->nr_actions * (uint32_t)sizeof(uint64_t);
	return table->saved + (shape->block_words ? (uint32_t)sizeof(uint64_t) : 0) - begin;
}

static size_t blocks_size(const struct tp_hist_table *table)
{
	return (size_t)table->nr_blocks * table->block_size;
}

static bool make_blocks(struct tp_hist_table *table, uint32_t nr_entries)
{
	if (!table->shape.block_words)
		return true;
	table->block_size = (uint32_t)(sizeof(struct tp_hist_block) + table->shape.block_words * sizeof(uint64_t));
	table->nr_blocks = nr_entries + MORE_BLOCKS;
	void *memory = mmap(NULL, blocks_size(table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	table->blocks = memory == MAP_FAILED ? NULL : memory;
	return table->blocks != NULL;
}

struct tp_hist_table *tp_hist_table_new(unsigned int bits, const struct tp_hist_shape *shape)
{
	struct tp_hist_table *table = tp_malloc(sizeof(*table));

	if (!table)
		return NULL;
	*table = (struct tp_hist_table){.shape = *shape};
	const uint32_t extra = lay_out(table);
	if (!make_blocks(table, 1u << bits)) {
		free(table);
		return NULL;
	}
	if (tp_count_table_open(&table->entries, bits, shape->key_words, 1 + shape->nr_values, extra, shape->with_comm))
		return table;
	if (table->blocks)
		munmap(table->blocks, blocks_size(table));
	free(table);
	return NULL;
}

void tp_hist_table_free(struct tp_hist_table *table)
{
	if (!table)
		return;
	tp_count_table_close(&table->entries);
	if (table->blocks)
		munmap(table->blocks, blocks_size(table));
	free(table);
}

void tp_hist_table_forget(struct tp_hist_table *table)
{
	tp_count_table_forget(&table->entries);
	table->next_block = 0;
	table->spare_block = 0;
	table->snapshot = 0;
}
