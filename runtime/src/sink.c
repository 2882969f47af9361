/* SPDX-License-Identifier: MIT */
/*
 * sink.c - the way of a record through a sink, the part that all sinks
 * share. (What is enabled on a sink is enable.c.)
 */
#include <tp/tp.h>

#include "internal.h"

void *tp_reserve(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event, size_t size)
{
	/* Id 0 is no event: its module is not loaded, or there was no number left for it. */
	if (size > TP_RECORD_MAX || !event->id) {
		tp_sink_count_lost(sink);
		if (sink->ops->lost)
			sink->ops->lost(sink);
		return NULL;
	}
	rec->sink = sink;
	rec->event = event;
	rec->size = (uint32_t)size;
	if (!sink->ops->reserve(rec))
		return NULL;
	*rec->entry = (struct trace_entry){.type = event->id, .pid = tp_thread_id()};
	return rec->entry;
}

void tp_commit(struct tp_record *rec)
{
	rec->sink->ops->commit(rec);
}

unsigned long tp_sink_lost(struct tp_sink *sink)
{
	return __atomic_load_n(&sink->lost, __ATOMIC_RELAXED);
}
