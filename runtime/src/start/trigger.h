/* SPDX-License-Identifier: MIT */
/*
 * start/trigger.h - TP_TRIGGER: triggers for each output, "PATTERNS TRIGGER", with semicolons between.
 */
#ifndef TP_START_TRIGGER_H
#define TP_START_TRIGGER_H

#include <stdbool.h>

#include <tp/sink.h>

/* What TP_TRIGGER says. Wrong triggers are told, and left out. */
void tp_start_triggers_read(const char *setting);

/* Whether there is one that acts on an output. */
bool tp_start_triggers_need_outputs(void);

/* Those of an output, which a message calls so; or those that act on none, for NULL. What does not work is told. */
void tp_start_triggers_set(struct tp_sink *sink, const char *output);

/* Patterns that no event has matched are told, and events to be switched that there were not. Forgets what TP_TRIGGER says. */
void tp_start_triggers_end(void);

#endif /* TP_START_TRIGGER_H */
