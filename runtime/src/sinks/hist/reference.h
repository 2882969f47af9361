/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/reference.h - which variable a name in a definition means, and histograms whose variables others read.
 */
#ifndef TP_HIST_REFERENCE_H
#define TP_HIST_REFERENCE_H

#include "sinks/hist/own.h"

struct tp_hist_finder {
	struct tp_hist *hist;
	struct tp_hist_definition *definition;
	struct tp_hist_links *links;
	tp_hist_hide *hide;
	struct tp_filter_error *error;
};

/* "$NAME" or "SYS.EV.$NAME" */
struct tp_hist_reference {
	struct tp_hist_span name, system, event; /* the last two may be empty */
	uint32_t nr_own; /* variables of its own histogram that have a value by then */
	bool once;
};

/* Gives it its number. False: there is none, or it is not known which, and the error says so: in these words if there is none. */
bool tp_hist_reference_find(const struct tp_hist_finder *f, const struct tp_hist_reference *to, const char *message, uint32_t *known);

/* The same of a variable that was found, of another histogram. Under tp_hist_lock. */
bool tp_hist_reference_add(const struct tp_hist_finder *f, const struct tp_hist_reference *to, const struct tp_hist *hist,
			   uint32_t index, uint32_t *known);

/* Whether it reads a variable, of those that were found so far, of a histogram that has the event. */
bool tp_hist_reads_event(const struct tp_hist_finder *f, struct tp_hist_span system, struct tp_hist_span event);

/* Whether the histogram has the event. Under tp_hist_lock. */
bool tp_hist_has_event(const struct tp_hist *hist, const struct tp_hist_definition *definition, struct tp_hist_span system,
		       struct tp_hist_span event);

/*
 * Histograms whose variables others read come and go: for sink.c.
 *
 * A histogram that is closed takes its variables along: to those that read them they are not set. A reader finds them again in
 * a histogram that is opened later, if what it has written means that one.
 */

/* All under tp_hist_lock. */

/* Another histogram, which reads a variable that would be gone if this one were closed. NULL: there is none. */
const struct tp_hist *tp_hist_reader_of(const struct tp_hist *hist);

/* The histogram has an event more: whoever lacks its variables finds them. */
void tp_hist_bind(const struct tp_hist *hist);

#endif /* TP_HIST_REFERENCE_H */
