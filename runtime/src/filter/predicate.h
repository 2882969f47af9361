/* SPDX-License-Identifier: MIT */
/*
 * filter/predicate.h - what a predicate means for the records of an event.
 */
#ifndef TP_FILTER_PREDICATE_H
#define TP_FILTER_PREDICATE_H

#include "filter/program.h"
#include "filter/tree.h"

/* A predicate that becomes a step. */
struct tp_filter_work {
	const struct tp_filter *filter;
	const struct tp_filter_predicate *predicate;
	const struct tp_event *event;
	struct tp_filter_step *step;
	bool *reads_header;  /* becomes true where the step reads the common header */
	bool *inverted;      /* becomes true where the step tests the contrary */
	uint8_t *bytes;      /* room for the step's; as much as room_for() in compile.c says */
	struct tp_filter_error *error;
};

/* Sets the step, but for where to go on. False: it does not fit the event. */
bool tp_filter_predicate_compile(const struct tp_filter_work *work);

#endif /* TP_FILTER_PREDICATE_H */
