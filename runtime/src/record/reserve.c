/* SPDX-License-Identifier: MIT */
/*
 * record/reserve.c - the way of a record through a sink, the part that all
 * sinks share.
 */
#include <stdio.h>
#include <string.h>

#include <tp/tp.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/scratch.h"
#include "base/thread.h"
#include "record/record.h"
#include "record/stream.h"

void tp_sink_lose(struct tp_sink *sink, enum tp_lost cause)
{
	if (sink->ops->lost)
		sink->ops->lost(sink, cause);
	else
		tp_sink_count_lost(sink, cause);
}

void *tp_reserve_although_off(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event, size_t size)
{
	*rec = (struct tp_record){.sink = sink, .event = event, .size = (uint32_t)size};
	/* Id 0 is no event: its module is not loaded, or there was no number left for it. */
	if (size > TP_RECORD_MAX || !event->id) {
		tp_sink_lose(sink, event->id ? TP_LOST_TOO_LARGE : TP_LOST_OTHER);
		return NULL;
	}
	if (!sink->ops->reserve(rec))
		return NULL;
	if (!rec->stream)
		*rec->entry = (struct trace_entry){.type = event->id, .pid = tp_thread_id()};
	return rec->entry;
}

static TP_COLD void *reserve_slowly(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event,
				    size_t size)
{
	return tp_sink_is_on(sink) ? tp_reserve_although_off(rec, sink, event, size) : NULL;
}

/* The short way of a sink with TP_SCRATCH_KEY. Where there is no room, its own way tells why. */
static __attribute__((noinline)) void *reserve_in_scratch(struct tp_record *rec, struct tp_sink *sink,
							  const struct tp_event *event, size_t size)
{
	struct trace_entry *entry = size <= TP_RECORD_MAX && event->id ? tp_scratch_push_short(size) : NULL;

	if (__builtin_expect(!entry, 0))
		return reserve_slowly(rec, sink, event, size);
	rec->sink = sink;
	rec->event = event;
	rec->entry = entry;
	rec->size = (uint32_t)size;
	rec->stream = NULL;
	*entry = (struct trace_entry){.type = event->id, .pid = tp_thread_id()};
	return entry;
}

static inline void *reserve(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event, size_t size)
{
#if TP_HAS_COUNTER
	const struct tp_stream_slot *slot = &tp_stream_slots[sink->slot];

	if (__builtin_expect(slot->key == __atomic_load_n(&sink->key, __ATOMIC_RELAXED), 1) &&
	    __builtin_expect(size <= TP_RECORD_MAX, 1)) {
		rec->stream = slot->stream;
		void *entry = tp_stream_reserve(slot->stream, event->id, size, &rec->position);
		if (__builtin_expect(entry != NULL, 1))
			return entry;
	}
#endif
	if (__atomic_load_n(&sink->key, __ATOMIC_RELAXED) == TP_SCRATCH_KEY)
		return reserve_in_scratch(rec, sink, event, size);
	return reserve_slowly(rec, sink, event, size);
}

static inline void commit(struct tp_record *rec)
{
	if (__builtin_expect(rec->stream != NULL, 1))
		tp_stream_commit(rec->stream, rec->position);
	else
		rec->sink->ops->commit(rec);
}

void *tp_reserve(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event, size_t size)
{
	return reserve(rec, sink, event, size);
}

void tp_commit(struct tp_record *rec)
{
	commit(rec);
}

/* ---- From one sink to another ---- */

/*
 * The header is the runtime's, and the same. Most records are short: for these, calling memcpy() would take as long as all
 * the rest. Words at the end overlap, so that not a byte behind the record is touched.
 */
static inline void copy_record(char *to, const char *from, size_t size)
{
	const size_t word = sizeof(uint64_t);

	if (size < 2 * word || size > 16 * word) {
		memcpy(to + sizeof(struct trace_entry), from + sizeof(struct trace_entry), size - sizeof(struct trace_entry));
		return;
	}
	for (size_t i = word; i + word <= size; i += word)
		__builtin_memcpy(to + i, from + i, word);
	__builtin_memcpy(to + size - word, from + size - word, word);
}

void tp_pass_record_on(struct tp_sink *sink, const struct tp_record *rec)
{
	struct tp_record own;
	char *entry = reserve(&own, sink, rec->event, rec->size);

	if (!entry) /* also where the sink needs no record */
		return;
	copy_record(entry, (const char *)rec->entry, rec->size);
	commit(&own);
}

bool tp_reserve_scratch(struct tp_record *rec)
{
	rec->entry = tp_scratch_push(rec->size);
	if (!rec->entry)
		tp_sink_count_lost(rec->sink, TP_LOST_NESTED);
	return rec->entry != NULL;
}

/* ---- On and off ---- */

void tp_sink_set_key(struct tp_sink *sink, uint64_t key)
{
	uint64_t old = __atomic_load_n(&sink->key, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(&sink->key, &old, key | (old & TP_KEY_IS_OFF), true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
}

bool tp_sink_switch(struct tp_sink *sink, bool on)
{
	const uint64_t old = on ? __atomic_fetch_and(&sink->key, ~TP_KEY_IS_OFF, __ATOMIC_SEQ_CST)
				: __atomic_fetch_or(&sink->key, TP_KEY_IS_OFF, __ATOMIC_SEQ_CST);

	return on == ((old & TP_KEY_IS_OFF) != 0);
}

bool tp_sink_is_on(const struct tp_sink *sink)
{
	return !(__atomic_load_n(&sink->key, __ATOMIC_RELAXED) & TP_KEY_IS_OFF);
}

void tp_tracing_off(struct tp_sink *sink)
{
	tp_sink_switch(sink, false);
}

void tp_tracing_on(struct tp_sink *sink)
{
	tp_sink_switch(sink, true);
}

bool tp_tracing_is_on(const struct tp_sink *sink)
{
	return tp_sink_is_on(sink);
}

/* ---- Lost records ---- */

unsigned long tp_sink_lost_by(struct tp_sink *sink, enum tp_lost cause)
{
	return (unsigned int)cause < TP_NR_LOST ? __atomic_load_n(&sink->lost[cause], __ATOMIC_RELAXED) : 0;
}

unsigned long tp_sink_lost(struct tp_sink *sink)
{
	unsigned long sum = 0;

	for (enum tp_lost cause = 0; cause < TP_NR_LOST; cause++)
		sum += tp_sink_lost_by(sink, cause);
	return sum;
}

void tp_sink_tell_lost(struct tp_sink *sink)
{
	static const char *const names[TP_NR_LOST] = {
		[TP_LOST_NO_FILE] = "no file", [TP_LOST_LIMIT] = "limit", [TP_LOST_NESTED] = "nested",
		[TP_LOST_TOO_LARGE] = "too large", [TP_LOST_OTHER] = "other",
	};
	const char *path = sink->reserved[3];
	char causes[256] = "";
	size_t len = 0;

	for (enum tp_lost cause = 0; cause < TP_NR_LOST; cause++) {
		unsigned long lost = tp_sink_lost_by(sink, cause);
		if (lost)
			len += (size_t)snprintf(causes + len, sizeof(causes) - len, "%s%s: %lu", len ? ", " : "",
						names[cause], lost);
	}
	if (len)
		tp_complain("%s %s%s%s: records lost: %lu (%s)", sink->ops->name, path ? "trace '" : "output",
			    path ? path : "", path ? "'" : "", tp_sink_lost(sink), causes);
}
