/* SPDX-License-Identifier: MIT */
/*
 * record/record.h - what a record writer calls, for sinks. tp/sink.h has the
 * functions that are public, and
 *
 *	stream.h  a thread's stream in a trace
 *
 * is for sinks with streams,
 *
 *	stack.h   who has hit the tracepoint
 *
 * for those that want it.
 */
#ifndef TP_RECORD_H
#define TP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/sink.h>

#include "record/stream.h"

/* Keys that no slot ever has: of a sink whose reserve is called ... */
#define TP_NO_KEY (TP_KEY_IS_OFF - 1)
/* ... and of one whose records are in scratch memory until commit, and need of struct tp_record neither time nor sink_data. */
#define TP_SCRATCH_KEY (TP_KEY_IS_OFF - 3)

/* From then on this is the sink's key; whether the sink is on stays. The one way to change a key. */
void tp_sink_set_key(struct tp_sink *sink, uint64_t key);

/*
 * A sink that is off takes no record but those of tp_reserve_although_off(), and counts none as lost; records on their
 * way are finished. At its opening it is on; in a forked child it is as in the parent. Returns whether this call has
 * changed that. Takes effect at once. Safe in signal handlers.
 */
bool tp_sink_switch(struct tp_sink *sink, bool on);
bool tp_sink_is_on(const struct tp_sink *sink);

/* As tp_reserve(), also while the sink is off: for records that say how others are to be read. */
void *tp_reserve_although_off(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event, size_t size);

/* The reserve of sinks whose records are in scratch memory until commit, which gives it back by tp_scratch_pop(). */
bool tp_reserve_scratch(struct tp_record *rec);

/* Counts a record as lost, as the sink counts: for callers that it did not refuse. Safe in signal handlers. */
void tp_sink_lose(struct tp_sink *sink, enum tp_lost cause);

/* Makes a record in the sink that is a copy of this one, which is complete. */
void tp_pass_record_on(struct tp_sink *sink, const struct tp_record *rec);

/* Says how many records were lost, if any were, and by what cause; of a trace by its path, which is struct tp_sink's reserved[3]. */
void tp_sink_tell_lost(struct tp_sink *sink);

#endif /* TP_RECORD_H */
