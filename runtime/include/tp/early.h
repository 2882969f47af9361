/* SPDX-License-Identifier: MIT */
/*
 * tp/early.h - events of which a filter can be evaluated before a record is made.
 *
 * An early field is one that TP_fast_assign sets from parameters alone, without
 * calling anything. For an event with such fields tpgen writes a second probe,
 * tp_early_NAME(). It computes the early fields, and asks the runtime what is to
 * be done. If a filter needs no other fields and refuses the event, nothing else
 * of the event is computed. The runtime uses this probe instead of
 * tp_record_NAME() for events with a filter. Only generated code and
 * tp/announce.h use this header.
 */
#ifndef TP_EARLY_H
#define TP_EARLY_H

#include <tp/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 1: the headers of tpgen have these probes. It is an experiment, see docs/filters.md, and so 0 unless the compiler's
 * command line says otherwise.
 */
#ifndef TP_EARLY_FILTERS
#define TP_EARLY_FILTERS 0
#endif

struct tp_module;
struct tp_sink;

/* The early fields of an event. A later interface may have more members, at the end. */
typedef struct {
	uint32_t size;          /* sizeof(tp_early_t) in the event's module */
	tp_probe_t probe;       /* tp_early_NAME() */
	struct tp_event *event;
	uint64_t fields;        /* which are early: a bit for each field, the lowest for the first */
	uint64_t exact;         /* those that are computed from values in the parameters, and from no other memory */
	/*
	 * The names in TP_fast_assign that may be macros of the program's headers: for each a text of its own,
	 * "NAME=" and what the preprocessor makes of it. An empty text ends them. NULL: there are none.
	 */
	const char *names;
} tp_early_t;

/* ---- Older libraries lack these: their callers look whether they are there ---- */

/*
 * Announces the early fields of a module's events; each module does so before tp_module_load(). The array has pointers,
 * and may have NULLs. The descriptions stay the module's, and are used until its events are unloaded.
 */
TP_PUBLIC void tp_early_load(const struct tp_module *module, const tp_early_t **begin, const tp_early_t **end)
	__attribute__((weak));

/*
 * What is to be done with the event. data is the probe's; early is the record's fixed part, in which only the early fields
 * are set; this function sets the header, if it needs it. Safe in signal handlers.
 *
 * Returns NULL if the record is refused, or the sink into which tp_record_NAME() must write it.
 */
TP_PUBLIC struct tp_sink *tp_early_sink(void *data, const struct tp_event *event, struct trace_entry *early)
	__attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif /* TP_EARLY_H */
