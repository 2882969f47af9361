/* SPDX-License-Identifier: MIT */
/*
 * triggers/stacktrace.c - stacktrace: a record with the stack of the thread, behind that of the event.
 *
 * It is an event of the runtime's own, on a tracepoint that nobody hits. Its module is loaded with the first such trigger,
 * so that programs without one have no such event.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include <tp/assign.h>
#include <tp/describe.h>
#include <tp/module.h>
#include <tp/scratch.h>
#include <tp/sink.h>
#include <tp/trace_seq.h>

#include "base/message.h"
#include "events/events.h"
#include "print/symbol.h"
#include "record/record.h"
#include "record/stack.h"
#include "sinks/ctf/ctf.h"
#include "triggers/mapping.h"
#include "triggers/trigger.h"

/* Callers that are recorded. */
#define MOST 256

/* ---- The event ---- */

struct trace_event_raw_stacktrace {
	struct trace_entry ent;
	tp_data_loc_t __data_loc_caller;
	TP_DYNAMIC_DATA
};

static void print(struct trace_seq *p, const void *entry);

#define TP_NUMBERS_OF_ADDRESSES(record, name, loc, rel, type) \
	TP_NUMBERS_OF(TP_DYNAMIC_ARRAY | 1 << TP_BIT_HEXADECIMAL, 0, ~0, record, loc, *(type *)0, 0)
#define tp_fields_stacktrace(TP_F, TP_R) TP_F(ADDRESSES, TP_R, caller, "unsigned long", unsigned long)
TP_DEFINE_CLASS(static, stacktrace, 1, 0,) = {
	TP_DESCRIBE(stacktrace, trace_event_raw_stacktrace, 1, 0),
	.text = tp_fields_stacktrace(TP_TEXTS, )
		"\"=> %s\", __print_array(__get_dynamic_array(caller), __get_dynamic_array_len(caller) / 8, 8)",
};

static struct tracepoint tracepoint = {
	.name = "tp:stacktrace", .proto = "const unsigned long *, size_t", .file = __FILE__, .line = __LINE__,
};

static void write_record(void *data, const uintptr_t *callers, size_t nr);

static struct tp_event stacktrace_event = {
	.system = "tp", .name = "stacktrace", .event_class = &__tp_class_stacktrace.head, .tracepoint = &tracepoint,
	.record = (tp_probe_t)write_record, .print = print, .loglevel = TP_LOGLEVEL_DEBUG_LINE,
};

static void write_record(void *data, const uintptr_t *callers, size_t nr)
{
	struct trace_event_raw_stacktrace *entry;
	struct tp_dynamic caller;
	struct tp_record record;
	const size_t size = tp_size_array(&caller, offsetof(struct trace_event_raw_stacktrace, __data), sizeof(unsigned long),
					  _Alignof(unsigned long), nr);

	entry = tp_reserve(&record, data, &stacktrace_event, size);
	if (!entry)
		return;
	entry->__data_loc_caller = tp_place(entry, &caller);
	memcpy((char *)entry + (entry->__data_loc_caller & 0xffff), callers, nr * sizeof(*callers));
	tp_commit(&record);
}

/* ---- As text ---- */

/* A return address may be behind its function's last instruction; what counts is the call in front of it. */
static void print_caller(struct trace_seq *p, uintptr_t address)
{
	struct tp_symbol symbol;
	struct tp_object object;

	if (tp_symbol_find(address - 1, &symbol))
		trace_seq_printf(p, "%s+0x%lx/0x%zx", symbol.name, (unsigned long)(address - symbol.address), symbol.size);
	else if (tp_object_find(address - 1, &object))
		trace_seq_printf(p, "%s(+0x%lx)", tp_object_name(&object, tp_program_name), (unsigned long)(address - object.base));
	else
		trace_seq_printf(p, "0x%lx", (unsigned long)address);
}

static void print(struct trace_seq *p, const void *entry)
{
	const tp_data_loc_t loc = ((const struct trace_event_raw_stacktrace *)entry)->__data_loc_caller;
	const unsigned long *callers = (const void *)((const char *)entry + (loc & 0xffff));

	for (size_t i = 0; i < (loc >> 16) / sizeof(*callers); i++) {
		trace_seq_puts(p, i ? " => " : "=> ");
		print_caller(p, callers[i]);
	}
}

/* ---- The trigger ---- */

static void load(void)
{
	static struct tracepoint *tracepoints[] = {&tracepoint, &tp_trigger_mapping_tracepoint};
	static struct tp_event *events[] = {&stacktrace_event, &tp_trigger_mapping_event};
	static struct tp_module module = {
		TP_MODULE_HEAD, .tracepoints = tracepoints, .tracepoints_end = tracepoints + 2, .events = events,
		.events_end = events + 2,
	};

	tp_module_load(&module);
}

/* Other sinks have the text, with names. */
static void write_mappings(const struct tp_trigger *trigger)
{
	if (tp_is_ctf(trigger->sink))
		tp_trigger_write_mappings(trigger->sink);
}

static int begin(struct tp_trigger *trigger, struct tp_buffer *why)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (!tp_sink_has(trigger->sink, &stacktrace_event)) {
		tp_buffer_printf(why, "the output can't record tp:stacktrace; a message has said why");
		return -ENOTSUP;
	}
	write_mappings(trigger);
	return 0;
}

/* Some were loaded since it began. */
static void end(struct tp_trigger *trigger)
{
	write_mappings(trigger);
}

static void fire(struct tp_trigger *trigger, const struct tp_event *event)
{
	if (!tp_trigger_take(trigger))
		return;
	uintptr_t *callers = tp_scratch_push((TP_RECORD_STACK_INNER + MOST) * sizeof(*callers));
	if (!callers) {
		tp_sink_count_lost(trigger->sink, TP_LOST_NESTED);
		return;
	}
	write_record(trigger->sink, callers, tp_stack_of_event(event, callers, MOST));
	tp_scratch_pop(callers);
}

/* Behind the event that fires it, and before one that it fires can switch recording off. */
const struct tp_trigger_command tp_trigger_stacktrace = {
	.name = "stacktrace", .kind = TP_TRIGGER_STACKTRACE, .priority = TRACEPOINT_DEFAULT_PRIO - 1,
	.begin = begin, .fire = fire, .end = end,
};
