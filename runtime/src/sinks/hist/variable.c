/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/variable.c - see variable.h.
 */
#include "sinks/hist/definition.h"
#include "sinks/hist/variable.h"

static struct tp_hist_variable *variable_at(const struct tp_hist_table *table, struct tp_count_entry *entry, uint32_t i)
{
	return (struct tp_hist_variable *)((char *)entry + table->variables[i]);
}

static bool write_blob(struct tp_hist_variable *variable, const uint64_t *from)
{
	uint64_t changes = __atomic_load_n(&variable->value, __ATOMIC_RELAXED);

	if (changes & 1 || !__atomic_compare_exchange_n(&variable->value, &changes, changes + 1, false, __ATOMIC_ACQUIRE,
							__ATOMIC_RELAXED))
		return false; /* by another thread, whose text is as good */
	tp_hist_words_store(variable->words, from, TP_HIST_BLOB_WORDS);
	__atomic_store_n(&variable->value, changes + 2, __ATOMIC_RELEASE);
	return true;
}

static bool read_blob(const struct tp_hist_variable *variable, uint64_t *to)
{
	const uint64_t changes = __atomic_load_n(&variable->value, __ATOMIC_ACQUIRE);

	if (changes & 1)
		return false;
	tp_hist_words_load(to, variable->words, TP_HIST_BLOB_WORDS);
	return __atomic_load_n(&variable->value, __ATOMIC_RELAXED) == changes;
}

void tp_hist_variable_set(const struct tp_hist_table *table, struct tp_count_entry *entry, uint32_t i, uint64_t value)
{
	struct tp_hist_variable *variable = variable_at(table, entry, i);

	if (table->shape.variables[i] == TP_HIST_KEY_NUMBER)
		__atomic_store_n(&variable->value, value, __ATOMIC_RELAXED);
	else if (!write_blob(variable, (const uint64_t *)(uintptr_t)value))
		return;
	__atomic_store_n(&variable->set, 1, __ATOMIC_RELEASE);
}

bool tp_hist_variable_read(const struct tp_hist_table *table, struct tp_count_entry *entry, uint32_t i, enum tp_hist_kind kind,
			   bool once, uint64_t *value, uint64_t *blob)
{
	struct tp_hist_variable *variable = variable_at(table, entry, i);

	if (i >= table->shape.nr_variables || table->shape.variables[i] != kind)
		return false;
	if (!__atomic_load_n(&variable->set, __ATOMIC_ACQUIRE) ||
	    (once && !__atomic_exchange_n(&variable->set, 0, __ATOMIC_ACQUIRE)))
		return false;
	if (kind == TP_HIST_KEY_NUMBER) {
		*value = __atomic_load_n(&variable->value, __ATOMIC_RELAXED);
		return true;
	}
	*value = (uint64_t)(uintptr_t)blob;
	return read_blob(variable, blob);
}

/* ---- What save() saves ---- */

static struct tp_hist_block *block_at(const struct tp_hist_table *table, uint32_t number)
{
	return (struct tp_hist_block *)(table->blocks + (size_t)(number - 1) * table->block_size);
}

/* number + 1; 0: there is none. As take_spare() in table.c. */
static uint32_t take_spare(struct tp_hist_table *table)
{
	uint64_t head = __atomic_load_n(&table->spare_block, __ATOMIC_ACQUIRE);

	while ((uint32_t)head) {
		const uint64_t next = __atomic_load_n(&block_at(table, (uint32_t)head)->next_spare, __ATOMIC_RELAXED);
		const uint64_t change = ((head >> 32) + 1) << 32;
		if (__atomic_compare_exchange_n(&table->spare_block, &head, change | next, true, __ATOMIC_ACQUIRE,
						__ATOMIC_ACQUIRE))
			return (uint32_t)head;
	}
	return 0;
}

static uint32_t take(struct tp_hist_table *table)
{
	const uint32_t spare = take_spare(table);

	if (spare || __atomic_load_n(&table->next_block, __ATOMIC_RELAXED) >= table->nr_blocks)
		return spare;
	const uint32_t number = __atomic_fetch_add(&table->next_block, 1, __ATOMIC_RELAXED);
	return number < table->nr_blocks ? number + 1 : 0;
}

static void give(struct tp_hist_table *table, uint32_t number)
{
	uint64_t head = __atomic_load_n(&table->spare_block, __ATOMIC_RELAXED), change;

	do {
		__atomic_store_n(&block_at(table, number)->next_spare, (uint32_t)head, __ATOMIC_RELAXED);
		change = ((head >> 32) + 1) << 32;
	} while (!__atomic_compare_exchange_n(&table->spare_block, &head, change | number, true, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

static uint64_t value_of(const struct tp_hist_table *table, uint64_t saved)
{
	return (uint32_t)saved ? __atomic_load_n(&block_at(table, (uint32_t)saved)->value, __ATOMIC_ACQUIRE) : 0;
}

bool tp_hist_save(struct tp_hist_table *table, uint64_t *saved, enum tp_hist_handler handler, uint64_t value,
		  void (*fill_in)(uint64_t *words, void *data), void *data)
{
	uint64_t old = __atomic_load_n(saved, __ATOMIC_ACQUIRE);
	uint32_t mine = 0;

	for (;;) {
		const bool exceeds = tp_hist_exceeds(handler, value_of(table, old), value);
		/* The block may be another's by now, and have another value. */
		const uint64_t now = __atomic_load_n(saved, __ATOMIC_ACQUIRE);
		if (now != old) {
			old = now;
			continue;
		}
		if (exceeds && !mine) {
			mine = take(table);
			if (mine) {
				__atomic_store_n(&block_at(table, mine)->value, value, __ATOMIC_RELEASE); /* as in definition.h */
				fill_in(block_at(table, mine)->words, data);
			}
		}
		if (!exceeds || !mine)
			break;
		const uint64_t change = ((old >> 32) + 1) << 32;
		if (!__atomic_compare_exchange_n(saved, &old, change | mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			continue;
		if ((uint32_t)old)
			give(table, (uint32_t)old);
		return true;
	}
	if (mine)
		give(table, mine);
	return false;
}

bool tp_hist_saved_copy(const struct tp_hist_table *table, const uint64_t *saved, uint64_t *value, uint64_t *words)
{
	uint64_t before, after = __atomic_load_n(saved, __ATOMIC_ACQUIRE);

	do {
		before = after;
		if (!(uint32_t)before)
			return false;
		*value = value_of(table, before);
		tp_hist_words_load(words, block_at(table, (uint32_t)before)->words, table->shape.block_words);
		after = __atomic_load_n(saved, __ATOMIC_ACQUIRE);
	} while (after != before);
	return true;
}
