/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/report.h - a copy of a histogram's entries, in the order in which they are shown.
 */
#ifndef TP_HIST_REPORT_H
#define TP_HIST_REPORT_H

#include "sinks/hist/own.h"

struct tp_hist_row {
	const struct tp_hist_report *report;
	const struct tp_count_entry *entry;
	uint64_t hits, sums[TP_HIST_VALUES];
	const uint64_t *tracked; /* with onmax() and onchange(): see tp_hist_tracked_copy() */
};

struct tp_hist_report {
	const struct tp_hist *hist;
	const struct tp_hist_layout *layout;
	struct tp_hist_row *rows;
	uint32_t nr_rows, room;
	char *entries;     /* what the rows point to */
	uint32_t stride;
	uint64_t *tracked;  /* of all rows */
	const struct tp_count_entry *snapshot; /* the one that has asked for a snapshot; NULL: none has */
	uint64_t snapshot_value;
	uint64_t hits, drops, unset;
	uint64_t total[TP_HIST_VALUES], max[TP_HIST_VALUES]; /* of all rows */
	uint32_t sort[TP_HIST_SORT_KEYS]; /* see tp_hist_sort_index() */
};

/* Under tp_hist_lock. False: no memory. To be freed in any case. */
bool tp_hist_report_take(struct tp_hist_report *report, const struct tp_hist *hist);
void tp_hist_report_free(struct tp_hist_report *report);

/* One key of an entry. */
struct tp_hist_part {
	uint64_t number;       /* a number; a text's length; a stack's depth */
	const uint64_t *words; /* a text's bytes, or a stack's addresses */
};

/* The keys of an entry, one for each of the definition's. */
void tp_hist_parts(const struct tp_hist_report *report, const struct tp_count_entry *entry, struct tp_hist_part parts[TP_HIST_KEYS]);

/* Appends a key's or a value's name, as it is shown. */
void tp_hist_put_name(struct tp_buffer *to, const struct tp_hist_definition *definition, const struct tp_hist_item *item, bool is_cpu);

/* ---- tracked.c: what an entry's actions have tracked and saved ---- */

/* Words that they have, of an entry. */
uint32_t tp_hist_tracked_words(const struct tp_hist_table *table);

/* Copies them. */
void tp_hist_tracked_copy(uint64_t *to, const struct tp_hist_table *table, const struct tp_count_entry *entry);

/* Appends them as the kernel does, or as members of a JSON object. */
void tp_hist_tracked_put_text(struct tp_buffer *to, const struct tp_hist_row *row);
void tp_hist_tracked_put_json(struct tp_buffer *to, const struct tp_hist_row *row);

/* ---- info.c ---- */

/* Appends the item as it is defined, with its modifier. */
void tp_hist_put_item(struct tp_buffer *to, const struct tp_hist_definition *definition, const struct tp_hist_item *item, bool is_cpu);

/* Whether the key is the stack of the thread, and not one in a field. */
bool tp_hist_is_own_stack(const struct tp_hist *hist, uint32_t key);

/* The node that the whole item is. */
static inline const struct tp_hist_node *tp_hist_root(const struct tp_hist_definition *definition, const struct tp_hist_item *item)
{
	return &definition->nodes[item->root];
}

#endif /* TP_HIST_REPORT_H */
