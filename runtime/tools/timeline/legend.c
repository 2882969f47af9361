/* SPDX-License-Identifier: MIT */
#include "timeline/legend.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"
#include "report/counts.h"

static struct legend_entry *find(struct legend *legend, const char *name, size_t len, bool is_slice)
{
	for (size_t i = 0; i < legend->nr; i++) {
		struct legend_entry *entry = &legend->entries[i];
		if (entry->is_slice == is_slice && strlen(entry->name) == len && memcmp(entry->name, name, len) == 0)
			return entry;
	}
	return NULL;
}

struct legend_entry *legend_get(struct legend *legend, const char *name, size_t len, bool is_slice)
{
	struct legend_entry *entry = find(legend, name, len, is_slice);

	if (entry)
		return entry;
	if (legend->nr == LEGEND_MAX) {
		legend->others.colour = (uint32_t)(key_of_text(0, name, len) >> 32) % LEGEND_COLOURS;
		return &legend->others;
	}
	entry = &legend->entries[legend->nr];
	*entry = (struct legend_entry){.name = strndup(name, len), .is_slice = is_slice};
	if (!entry->name) {
		fail_no_memory();
		return NULL;
	}
	if (is_slice)
		entry->colour = legend->nr_slices++ % LEGEND_COLOURS;
	legend->nr++;
	return entry;
}

void legend_free(struct legend *legend)
{
	for (size_t i = 0; i < legend->nr; i++)
		free(legend->entries[i].name);
}
