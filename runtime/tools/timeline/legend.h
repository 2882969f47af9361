/* SPDX-License-Identifier: MIT */
/* legend.h - the names in a picture, in the order in which they came: of slices, which have colours, and of other events. */
#ifndef LEGEND_H
#define LEGEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEGEND_MAX 12
#define LEGEND_COLOURS 8

struct legend_entry {
	char *name;
	uint32_t colour; /* of a slice */
	bool is_slice;
	uint64_t nr;
};

struct legend {
	struct legend_entry entries[LEGEND_MAX];
	size_t nr;
	struct legend_entry others; /* all for whom there is no room; has no name */
	uint32_t nr_slices;
};

/* The name's entry. NULL, and a message: there is no memory. The legend starts as zeros, and is to be freed in any case. */
struct legend_entry *legend_get(struct legend *legend, const char *name, size_t len, bool is_slice);
void legend_free(struct legend *legend);

#endif /* LEGEND_H */
