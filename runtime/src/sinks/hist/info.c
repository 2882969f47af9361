/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/info.c - a histogram's definition, as the kernel shows a trigger: with all that was left to the defaults.
 */
#include "sinks/hist/report.h"

static void put_span(struct tp_buffer *to, const struct tp_hist_definition *definition, struct tp_hist_span span)
{
	tp_buffer_printf(to, "%.*s", (int)span.len, tp_hist_text_at(definition, span));
}

void tp_hist_put_item(struct tp_buffer *to, const struct tp_hist_definition *definition, const struct tp_hist_item *item, bool is_cpu)
{
	const struct tp_hist_node *node = tp_hist_root(definition, item);

	if (node->kind == TP_HIST_VARIABLE)
		put_span(to, definition, item->span);
	else
		tp_hist_put_name(to, definition, item, is_cpu);
	if (node->kind != TP_HIST_FIELD || node->modifier == TP_HIST_PLAIN)
		return;
	tp_buffer_printf(to, ".%s", tp_hist_modifier_names[node->modifier]);
	if (node->modifier == TP_HIST_BUCKETS)
		tp_buffer_printf(to, "=%llu", (unsigned long long)node->number);
}

static bool is_cpu(const struct tp_hist *hist, uint32_t key)
{
	return hist->map->table && hist->map->layout.is_cpu[key];
}

static void put_keys(struct tp_buffer *to, const struct tp_hist *hist)
{
	const struct tp_hist_definition *definition = hist->definition;

	tp_buffer_printf(to, "keys=");
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		const struct tp_hist_item *key = &definition->keys[i];
		tp_buffer_printf(to, "%s", i ? "," : "");
		if (tp_hist_is_own_stack(hist, i))
			tp_buffer_printf(to, "common_stacktrace");
		else
			tp_hist_put_item(to, definition, key, is_cpu(hist, i));
	}
}

bool tp_hist_is_own_stack(const struct tp_hist *hist, uint32_t key)
{
	const struct tp_hist_definition *definition = hist->definition;
	const struct tp_hist_node *node = tp_hist_root(definition, &definition->keys[key]);

	return hist->map->table && hist->map->layout.kinds[key] == TP_HIST_KEY_STACK && node->modifier == TP_HIST_PLAIN;
}

static void put_values(struct tp_buffer *to, const struct tp_hist_definition *definition)
{
	bool any = !definition->no_hitcount;

	tp_buffer_printf(to, ":vals=%s", any ? "hitcount" : "");
	for (uint32_t i = 0; i < definition->nr_values; i++) {
		tp_buffer_printf(to, "%s", any ? "," : "");
		tp_hist_put_item(to, definition, &definition->values[i], false);
		any = true;
	}
	for (uint32_t i = 0; i < definition->nr_variables; i++) {
		tp_buffer_printf(to, "%s", i ? "," : ":");
		put_span(to, definition, definition->variables[i].variable);
		tp_buffer_printf(to, "=");
		put_span(to, definition, definition->variables[i].span);
	}
}

static void put_sort_key(struct tp_buffer *to, const struct tp_hist *hist, const struct tp_hist_sort *sort)
{
	const struct tp_hist_definition *definition = hist->definition;
	const uint32_t index = tp_hist_sort_index(definition, &hist->map->layout, sort);

	if (index == 0 || index == TP_HIST_NO_FIELD)
		put_span(to, definition, sort->name);
	else if (index <= TP_HIST_VALUES)
		tp_hist_put_item(to, definition, &definition->values[index - 1], false);
	else
		tp_hist_put_item(to, definition, &definition->keys[index - 1 - TP_HIST_VALUES], is_cpu(hist, index - 1 - TP_HIST_VALUES));
	tp_buffer_printf(to, "%s", sort->descending ? ".descending" : "");
}

static bool has_stamp(const struct tp_hist_definition *definition)
{
	for (uint32_t i = 0; i < definition->nr_nodes; i++) {
		if (definition->nodes[i].kind == TP_HIST_FIELD &&
		    tp_hist_span_is(definition, definition->nodes[i].name, "common_timestamp"))
			return true;
	}
	return false;
}

void tp_hist_put_info(struct tp_buffer *to, const struct tp_hist *hist)
{
	const struct tp_hist_definition *definition = hist->definition;

	tp_buffer_printf(to, "hist:");
	if (definition->name.len) {
		tp_buffer_printf(to, "name=");
		put_span(to, definition, definition->name);
		tp_buffer_printf(to, ":");
	}
	put_keys(to, hist);
	put_values(to, definition);
	tp_buffer_printf(to, ":sort=%s", definition->nr_sort ? "" : "hitcount");
	for (uint32_t i = 0; i < definition->nr_sort; i++) {
		tp_buffer_printf(to, "%s", i ? "," : "");
		put_sort_key(to, hist, &definition->sort[i]);
	}
	tp_buffer_printf(to, ":size=%u", 1u << hist->map->bits);
	if (has_stamp(definition))
		tp_buffer_printf(to, ":clock=%s", tp_hist_clock_names[definition->clock]);
	tp_buffer_printf(to, "%s", definition->no_hitcount ? ":nohitcount" : "");
	for (uint32_t i = 0; i < definition->nr_actions; i++) {
		tp_buffer_printf(to, ":");
		put_span(to, definition, definition->actions[i].span);
	}
	if (hist->filter)
		tp_buffer_printf(to, " if %s", hist->filter);
	tp_buffer_printf(to, __atomic_load_n(&hist->paused, __ATOMIC_RELAXED) ? " [paused]" : " [active]");
}
