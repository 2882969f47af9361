/* SPDX-License-Identifier: MIT */
/*
 * start/selection.h - what TP_ENABLE, or an output of TP_OUTPUT, says is to be enabled: rules, each of them
 * "PATTERNS" or "PATTERNS if FILTER".
 */
#ifndef TP_SELECTION_H
#define TP_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include <tp/sink.h>

#include "events/pattern.h"

struct tp_selected {
	const char *patterns;
	const char *filter; /* NULL: none */
};

/* All zeros: none. */
struct tp_selection {
	char *setting; /* what messages call it: as it stands in the environment, "TP_ENABLE=sched:*". NULL: none */
	char *text;    /* the rules' */
	struct tp_selected *rules;
	size_t nr;
};

/*
 * Of TP_ENABLE (output is NULL), whose rules semicolons separate, or of an output, where arrows do. False after a
 * message, which ends with the consequence.
 */
bool tp_selection_set(struct tp_selection *selection, const char *output, const char *rules, const char *consequence);
void tp_selection_free(struct tp_selection *selection);

/* On the sink; whatever does not work is told, unless quiet: which events a filter does not fit. */
void tp_selection_enable(const struct tp_selection *selection, struct tp_sink *sink, bool quiet);

#endif /* TP_SELECTION_H */
