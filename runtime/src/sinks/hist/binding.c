/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/binding.c - see binding.h.
 */
#include "sinks/hist/binding.h"
#include "sinks/hist/reference.h"

static bool reads(const struct tp_hist *hist, const struct tp_hist_map *map)
{
	for (uint32_t i = 0; i < hist->links.nr; i++) {
		if (hist->links.links[i].slot && hist->links.links[i].slot->map == map)
			return true;
	}
	return false;
}

const struct tp_hist *tp_hist_reader_of(const struct tp_hist *hist)
{
	const struct tp_hist *reader = hist->map->nr_hists > 1 ? NULL : tp_hist_first();

	while (reader && (reader == hist || !reads(reader, hist->map)))
		reader = tp_hist_next(reader);
	return reader;
}

/* The histogram's records were compiled for what the variable was. */
static bool fits(const struct tp_hist_link *link, const struct tp_hist *hist, uint32_t index)
{
	return (uint8_t)link->kind == hist->map->layout.variables[index] &&
	       hist->map->layout.variable_bytes[index] <= link->bytes &&
	       link->in_usecs == tp_hist_in_usecs(hist->definition, &hist->links, hist->definition->variables[index].root);
}

static void bind_link(struct tp_hist_link *link, const struct tp_hist_definition *of, const struct tp_hist *hist)
{
	const struct tp_hist_reference to = {.name = link->name, .system = link->system, .event = link->event};
	bool unique;
	const struct tp_hist *found = tp_hist_reference_search(of, &to, &unique);

	if (!found || !unique || found->map != hist->map || of->nr_keys != hist->map->nr_keys)
		return;
	const uint32_t index = tp_hist_variable_index(hist, of, link->name);
	if (!fits(link, hist, index))
		return;
	hist->map->refs++;
	__atomic_store_n(&link->slot, &hist->map->slots[index], __ATOMIC_RELEASE);
}

void tp_hist_bind(const struct tp_hist *hist)
{
	for (struct tp_hist *reader = tp_hist_first(); reader && hist->definition->nr_variables; reader = tp_hist_next(reader)) {
		for (uint32_t i = 0; i < reader->links.nr; i++) {
			if (!reader->links.links[i].slot && reader->links.links[i].name.len)
				bind_link(&reader->links.links[i], reader->definition, hist);
		}
	}
}
