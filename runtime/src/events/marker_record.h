/* SPDX-License-Identifier: MIT */
/*
 * events/marker_record.h - from the arguments of a marker that was hit to a record.
 *
 * Arguments are words, in the order of the format, including those for its stars.
 */
#ifndef TP_MARKER_RECORD_H
#define TP_MARKER_RECORD_H

#include <tp/marker.h>

#include "events/marker_format.h"
#include "events/record_words.h"

/* Each argument can have a width and a precision, which are arguments, too. */
#define TP_MARKER_WORDS_MAX (3 * TP_MARKER_ARGS_MAX)

/* The event of a name and format, and what its record writer needs to know. */
struct tp_marker_event {
	struct tp_event event;
	struct tp_words words;
	const struct tp_conversion *conversions;
	bool in_registers; /* a call passes all the words in general registers */
};

/* Sets all of it but event; steps has room for as many as there are fields. */
void tp_marker_plan(struct tp_marker_event *to, struct tp_word_step *steps, const struct tp_conversion *conversions,
		    const struct tp_marker_format *parsed);

/* The record writer: a probe whose data is a sink. */
marker_probe_func tp_marker_record;

/* Sites of this marker call an iterator that does not need a list of the arguments, where there is such a one. */
void tp_marker_shorten(struct marker *marker);

#endif /* TP_MARKER_RECORD_H */
