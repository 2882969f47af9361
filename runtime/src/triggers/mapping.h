/* SPDX-License-Identifier: MIT */
/*
 * triggers/mapping.h - where the program and its libraries are in memory, for readers of a trace: its stacks are addresses.
 */
#ifndef TP_TRIGGER_MAPPING_H
#define TP_TRIGGER_MAPPING_H

#include <tp/event.h>
#include <tp/sink.h>

extern struct tracepoint tp_trigger_mapping_tracepoint; /* that nobody hits */
extern struct tp_event tp_trigger_mapping_event;

/*
 * A record tp:mapping for each piece of code that is loaded, also while the sink is off. Takes the loader's lock; not in a
 * probe.
 */
void tp_trigger_write_mappings(struct tp_sink *sink);

#endif /* TP_TRIGGER_MAPPING_H */
