/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/variable.c - see variable.h.
 */
#include "sinks/hist/variable.h"
#include "sinks/hist/words.h"

static struct tp_hist_variable *variable_at(const struct tp_hist_table *table, struct tp_hist_entry *entry, uint32_t i)
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

void tp_hist_variable_set(const struct tp_hist_table *table, struct tp_hist_entry *entry, uint32_t i, uint64_t value)
{
	struct tp_hist_variable *variable = variable_at(table, entry, i);

	if (table->shape.variables[i] == TP_HIST_KEY_NUMBER)
		__atomic_store_n(&variable->value, value, __ATOMIC_RELAXED);
	else if (!write_blob(variable, (const uint64_t *)(uintptr_t)value))
		return;
	__atomic_store_n(&variable->set, 1, __ATOMIC_RELEASE);
}

bool tp_hist_variable_read(const struct tp_hist_table *table, struct tp_hist_entry *entry, uint32_t i, enum tp_hist_kind kind,
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
