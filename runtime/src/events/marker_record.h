/* SPDX-License-Identifier: MIT */
/*
 * events/marker_record.h - from the arguments of a marker that was hit to a record.
 *
 * Arguments are words: the bits of an integer, of a pointer or of a double, in
 * the order of the format, including those for its stars. Of each name and
 * format it is known in advance where a word goes in the record.
 */
#ifndef TP_MARKER_RECORD_H
#define TP_MARKER_RECORD_H

#include <tp/marker.h>
#include <tp/read.h>

#include "base/base.h"
#include "events/marker_format.h"

/* Each argument can have a width and a precision, which are arguments, too. */
#define TP_MARKER_WORDS_MAX (3 * TP_MARKER_ARGS_MAX)

/* The way of one argument into the record. */
struct tp_marker_step {
	uint16_t offset;
	uint8_t word;  /* which it is */
	uint8_t size;  /* bytes of it in the record; of a text, of its __data_loc word */
	uint32_t most; /* of a text: bytes of it that count, or TP_MARKER_STAR */
};

/* The word before the text's says it. */
#define TP_MARKER_STAR UINT32_MAX

/* The event of a name and format, and what its record writer needs to know. */
struct tp_marker_event {
	struct tp_event event;
	const struct tp_marker_step *texts, *others, *end; /* two arrays: the second begins where the first ends */
	const struct tp_conversion *conversions;
	bool in_registers; /* a call passes all the words in general registers */
};

/* Sets all of it but event; steps has room for as many as there are fields. */
void tp_marker_plan(struct tp_marker_event *to, struct tp_marker_step *steps, const struct tp_conversion *conversions,
		    const struct tp_marker_format *parsed);

/* The record writer: a probe whose data is a sink. */
marker_probe_func tp_marker_record;

/* Sites of this marker call an iterator that does not need a list of the arguments, where there is such a one. */
void tp_marker_shorten(struct marker *marker);

/* ---- Iterators ---- */

/* The same as tp_read_lock_first(), seen by ThreadSanitizer, which sees the program's probes, but not this. */
static inline const struct tracepoint_func *tp_marker_enter(struct tracepoint *tp, int *hit)
{
	const struct tracepoint_func *it = tp_read_lock_first(tp, hit);

	if (__tsan_acquire)
		__tsan_acquire(&tp->funcs);
	return it;
}

static inline void tp_marker_leave(int hit)
{
	if (__tsan_release)
		__tsan_release(&urcu_bp_gp);
	tp_read_unlock_first(hit);
}

#endif /* TP_MARKER_RECORD_H */
