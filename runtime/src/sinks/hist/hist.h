/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/hist.h - histograms, for the folders above. A histogram is a sink: tp_enable() and its like say of which
 * events, and with which filter. docs/histograms.md is the language.
 *
 *	definition.h  what stands behind "hist:"
 *	table.h       the entries
 *	variable.h    what entries have besides
 *	links.h, reference.h  what a definition names outside of itself
 *	program.h     a definition, compiled for an event
 *	compile.h     how it is
 *	own.h         the sink
 *	report.h      a copy of the entries, to show
 *
 * are the folder's own.
 */
#ifndef TP_HIST_H
#define TP_HIST_H

#include <stdbool.h>

#include <tp/sink.h>

#include "base/text.h"
#include "filter/filter.h"

struct tp_hist_definition;

/* What stands behind "hist:", without "if FILTER". NULL, and *error says why, with places in text. */
struct tp_hist_definition *tp_hist_definition_new(const char *text, struct tp_filter_error *error);
void tp_hist_definition_free(struct tp_hist_definition *definition);

/* What the definition asks of a histogram that is there already. */
enum tp_hist_selector {
	TP_HIST_MAKE, /* nothing: it is one of its own */
	TP_HIST_PAUSE,
	TP_HIST_CONTINUE,
	TP_HIST_CLEAR,
};

enum tp_hist_selector tp_hist_selector_of(const struct tp_hist_definition *definition);

/*
 * Opens a histogram. The definition is the sink's from here on, or freed. filter is shown behind it; or NULL. One that is
 * to be made paused is. Takes its own locks and the events'. NULL, and *error says why:
 *	its name is that of another one with other keys, values or sort keys
 *	a variable of another histogram, a synthetic event or the event of onmatch() is not there
 *	it is to be cleared or continued: there is nothing yet
 *	-ENOMEM
 */
struct tp_sink *tp_hist_sink(struct tp_hist_definition *definition, const char *filter, struct tp_filter_error *error);

/* Whether it has an action snapshot(), which somebody has to take: tp_hist_on_snapshot(). */
bool tp_hist_wants_snapshot(const struct tp_hist_definition *definition);

/*
 * take is called for each snapshot() that a hit asks for: in probes, and so in signal handlers. Before the histogram is
 * enabled for anything; data must stay until it is closed.
 */
void tp_hist_on_snapshot(struct tp_sink *sink, void (*take)(void *data), void *data);

/* From here on, this filter is shown behind the definition; or none (NULL). */
void tp_hist_show_filter(struct tp_sink *sink, const char *filter);

/* Whether the sink is a histogram. */
bool tp_is_hist(const struct tp_sink *sink);

/*
 * Before it is closed by somebody who can be refused: 0, and no other histogram begins to read its variables; or -EBUSY: one reads
 * them, which *why names. Whoever does not ask may close it, too: the variables are not set any more, then.
 */
int tp_hist_leave(struct tp_sink *sink, struct tp_buffer *why);

/* Whether it has the same name, keys, values, variables, sort keys and actions: it would be the same trigger. */
bool tp_hist_is(const struct tp_sink *sink, const struct tp_hist_definition *definition);

/*
 * How many of the process's events match the patterns, and have the fields. If none of those that match has, *error says
 * what the first lacks. Events that are no use to a histogram stay off in it, and nothing is said.
 */
int tp_hist_fits(const struct tp_sink *sink, const char *patterns, struct tp_filter_error *error);

/*
 * Appends, for a person, why it may never get a variable that it reads: another histogram of the same event unsets it first, or
 * the one that sets it has no event. waits: events of modules that are loaded later are no surprise.
 */
void tp_hist_put_doubts(const struct tp_sink *sink, bool waits, struct tp_buffer *to);

/* Safe in probes and signal handlers. */
void tp_hist_pause(struct tp_sink *sink, bool paused);

/* The same for all histograms of an event, "system:event": those that were enabled for it. In a probe only. */
void tp_hists_pause_of(const char *event, bool paused);

/* Throws away what was counted, while threads go on. 0, -ENOMEM, or -EDEADLK in a probe, which would wait for itself. */
int tp_hist_clear(struct tp_sink *sink);

/* What tp_hist_definition_new() got; the sink's. */
const char *tp_hist_definition_text(const struct tp_sink *sink);

/* "hist:keys=...:vals=...:sort=...:size=... [if FILTER] [active]", as the kernel shows a trigger. */
void tp_hist_put_definition(struct tp_buffer *to, const struct tp_sink *sink);

/* Whether it has counted anything, or has had no room for it. */
bool tp_hist_has_hits(struct tp_sink *sink);

/* Appends, for a person, a line if hits were dropped for want of room, or if no hit counts as variables are not set. */
void tp_hist_put_losses(struct tp_sink *sink, struct tp_buffer *to);

/* The same of each histogram that tp_hists_report() has for the patterns. */
void tp_hists_put_losses(const char *patterns, struct tp_buffer *to);

/* Appends what the kernel's file "hist" has, or a JSON object. 0, -ENOMEM, or -EINVAL: it is no histogram. */
int tp_hist_report(struct tp_sink *sink, bool json, struct tp_buffer *to);

/*
 * The same of each histogram that was enabled for an event that matches the patterns, in the order in which they were
 * opened; of JSON a list. The number of histograms, -ENOMEM, or -EINVAL: these are no patterns.
 */
int tp_hists_report(const char *patterns, bool json, struct tp_buffer *to);

#endif /* TP_HIST_H */
