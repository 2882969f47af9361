/* SPDX-License-Identifier: MIT */
/*
 * triggers/commands.h - what triggers can do.
 */
#ifndef TP_TRIGGER_COMMANDS_H
#define TP_TRIGGER_COMMANDS_H

#include <stddef.h>

#include "triggers/trigger.h"

extern const struct tp_trigger_command tp_trigger_traceon, tp_trigger_traceoff;           /* recording.c */
extern const struct tp_trigger_command tp_trigger_enable_event, tp_trigger_disable_event; /* event.c */
extern const struct tp_trigger_command tp_trigger_snapshot;                               /* snapshot.c */
extern const struct tp_trigger_command tp_trigger_stacktrace;                             /* stacktrace.c */
extern const struct tp_trigger_command tp_trigger_hist, tp_trigger_enable_hist, tp_trigger_disable_hist; /* hist.c */

/* The command of this name. NULL: there is none. */
const struct tp_trigger_command *tp_trigger_command_of(const char *name, size_t len);

/* Appends all names, for a message. */
void tp_trigger_command_names(struct tp_buffer *to);

#endif /* TP_TRIGGER_COMMANDS_H */
