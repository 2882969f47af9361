/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/show.c - what histograms have counted.
 */
#include <errno.h>

#include "events/pattern.h"
#include "sinks/hist/report.h"

/* Under tp_hist_lock. */
static void put(struct tp_buffer *to, const struct tp_hist *hist, bool json)
{
	struct tp_hist_report report;

	if (!tp_hist_report_take(&report, hist))
		to->failed = true;
	else if (json)
		tp_hist_put_json(to, &report);
	else
		tp_hist_put_text(to, &report);
	tp_hist_report_free(&report);
}

int tp_hist_report(struct tp_sink *sink, bool json, struct tp_buffer *to)
{
	if (!tp_is_hist(sink))
		return -EINVAL;
	tp_lock(&tp_hist_lock);
	put(to, tp_hist_of(sink), json);
	tp_unlock(&tp_hist_lock);
	if (json)
		tp_buffer_printf(to, "\n");
	return to->failed ? -ENOMEM : 0;
}

bool tp_hist_has_hits(struct tp_sink *sink)
{
	struct tp_hist_report report;

	tp_lock(&tp_hist_lock);
	const bool has = !tp_hist_report_take(&report, tp_hist_of(sink)) || report.hits || report.drops || report.unset;
	tp_unlock(&tp_hist_lock);
	tp_hist_report_free(&report);
	return has;
}

/* ---- What they have not counted ---- */

static void put_drops(struct tp_buffer *to, const struct tp_hist *hist, uint64_t drops)
{
	const unsigned int bits = hist->map->bits;

	tp_hist_put_short(to, hist->definition);
	tp_buffer_printf(to, ": %llu hits were dropped, as all of its %u entries are taken: ", (unsigned long long)drops, 1u << bits);
	if (bits < TP_HIST_BITS_MAX)
		tp_buffer_printf(to, "size=%u has room for more\n", 1u << (bits + 1));
	else
		tp_buffer_printf(to, "none has more; a filter, fewer keys or a modifier such as .log2 makes fewer\n");
}

/* Under tp_hist_lock. */
static void put_losses(struct tp_buffer *to, const struct tp_hist *hist)
{
	const uint64_t unset = __atomic_load_n(&hist->unset, __ATOMIC_RELAXED);
	const uint64_t drops = hist->map->table ? __atomic_load_n(&hist->map->table->entries.drops, __ATOMIC_RELAXED) : 0;
	struct tp_hist_report report;

	if (drops)
		put_drops(to, hist, drops);
	if (!unset || drops)
		return;
	if (tp_hist_report_take(&report, hist) && !report.hits) {
		tp_hist_put_short(to, hist->definition);
		tp_buffer_printf(to, ": none of %llu hits counts, as a variable that it reads was not set for their keys\n",
				 (unsigned long long)unset);
	}
	tp_hist_report_free(&report);
}

void tp_hist_put_losses(struct tp_sink *sink, struct tp_buffer *to)
{
	tp_lock(&tp_hist_lock);
	put_losses(to, tp_hist_of(sink));
	tp_unlock(&tp_hist_lock);
}

const char *tp_hist_definition_text(const struct tp_sink *sink)
{
	return ((const struct tp_hist *)sink)->definition->text;
}

void tp_hist_put_definition(struct tp_buffer *to, const struct tp_sink *sink)
{
	tp_lock(&tp_hist_lock);
	tp_hist_put_info(to, (const struct tp_hist *)sink);
	tp_unlock(&tp_hist_lock);
}

static bool is_for(const struct tp_hist *hist, const struct tp_pattern *pattern)
{
	const struct tp_hist_program *program = __atomic_load_n(&hist->attached, __ATOMIC_ACQUIRE);

	while (program && !tp_pattern_matches(pattern, program->name))
		program = program->next_attached;
	return program != NULL && !hist->hidden;
}

int tp_hists_report(const char *patterns, bool json, struct tp_buffer *to)
{
	int result, nr = 0;
	struct tp_pattern *pattern = tp_pattern_new(patterns, &result);

	if (!pattern)
		return result;
	if (json)
		tp_buffer_printf(to, "[");
	tp_lock(&tp_hist_lock);
	for (const struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		if (!is_for(hist, pattern))
			continue;
		if (nr++)
			tp_buffer_printf(to, json ? ",\n" : "\n\n");
		put(to, hist, json);
	}
	tp_unlock(&tp_hist_lock);
	if (json)
		tp_buffer_printf(to, "]\n");
	tp_pattern_free(pattern);
	return to->failed ? -ENOMEM : nr;
}

void tp_hists_put_losses(const char *patterns, struct tp_buffer *to)
{
	int error;
	struct tp_pattern *pattern = tp_pattern_new(patterns, &error);

	if (!pattern)
		return;
	tp_lock(&tp_hist_lock);
	for (const struct tp_hist *hist = tp_hist_first(); hist; hist = tp_hist_next(hist)) {
		if (is_for(hist, pattern))
			put_losses(to, hist);
	}
	tp_unlock(&tp_hist_lock);
	tp_pattern_free(pattern);
}
