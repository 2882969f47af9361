/* SPDX-License-Identifier: MIT */
#include "export/scheduling.h"

#include <string.h>

#include "select/record_field.h"

#define FIELDS_MAX 7

enum { FTRACE_EVENTS = 1, BUNDLE_CPU = 1, BUNDLE_EVENT = 2, EVENT_TIMESTAMP = 1, EVENT_PID = 2 };

struct scheduling {
	const char *name;
	uint32_t number;                /* of its message in an event */
	const char *fields[FIELDS_MAX]; /* their numbers are from 1 on; those that this kernel does not have are left out */
};

static const struct scheduling all[] = {
	{"sched_switch", 4, {"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"}},
	{"sched_wakeup", 17, {"comm", "pid", "prio", "success", "target_cpu"}},
	{"sched_waking", 20, {"comm", "pid", "prio", "success", "target_cpu"}},
	{"sched_wakeup_new", 114, {"comm", "pid", "prio", "success", "target_cpu"}},
};

const struct scheduling *scheduling_of(const struct trace *trace, const struct event_format *format)
{
	if (strcmp(format->system, "sched") != 0 || !trace->metadata.is_kernel)
		return NULL;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (format_is_named(format, "sched", all[i].name))
			return &all[i];
	}
	return NULL;
}

static void put_field(struct tp_proto *proto, uint32_t number, const char *name, const struct event *event, const struct tp_event *described)
{
	struct tp_value_bytes text;
	struct record_field field;
	uint64_t value;

	if (!name || !record_field_find(&field, described, name))
		return;
	if (record_field_text(&field, event, &text))
		tp_proto_text(proto, number, text.at, text.len);
	else if (record_field_number(&field, event, &value))
		tp_proto_number(proto, number, value);
}

bool scheduling_put(const struct scheduling *scheduling, struct packets *packets, const struct merged *merged, const struct tp_event *described)
{
	const struct event *event = &merged->event;
	struct tp_proto *proto = &packets->proto;

	packet_open(packets, merged->trace_nr, event->time);
	const size_t bundle = tp_proto_begin(proto, FTRACE_EVENTS);
	tp_proto_number(proto, BUNDLE_CPU, (uint64_t)event->cpu);
	const size_t one = tp_proto_begin(proto, BUNDLE_EVENT);
	tp_proto_number(proto, EVENT_TIMESTAMP, event->time - merged->trace->metadata.boot_ns);
	tp_proto_number(proto, EVENT_PID, (uint64_t)event->tid);
	const size_t message = tp_proto_begin(proto, scheduling->number);
	for (uint32_t i = 0; i < FIELDS_MAX; i++)
		put_field(proto, i + 1, scheduling->fields[i], event, described);
	tp_proto_end(proto, message);
	tp_proto_end(proto, one);
	tp_proto_end(proto, bundle);
	return packet_close(packets);
}
