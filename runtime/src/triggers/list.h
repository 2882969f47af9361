/* SPDX-License-Identifier: MIT */
/*
 * triggers/list.h - the triggers that there are.
 */
#ifndef TP_TRIGGER_LIST_H
#define TP_TRIGGER_LIST_H

#include "triggers/trigger.h"

/* 0; -EEXIST: there is one that it must not stand beside. Others see it from here on. */
int tp_trigger_link(struct tp_trigger *trigger);

/* It is set, and may be taken off; or it could not be set, and goes. */
void tp_trigger_is_set(struct tp_trigger *trigger);
void tp_trigger_unlink(struct tp_trigger *trigger);

/* One that is set, and stays so until it is let go. NULL: there is none such. */
struct tp_trigger *tp_trigger_hold(bool (*is_it)(const struct tp_trigger *trigger, const void *data), const void *data);
void tp_trigger_let_go(struct tp_trigger *trigger);

/* Takes the one that is held from the list, unless its command refuses: its error, with a reason, and it is let go. */
int tp_trigger_leave(struct tp_trigger *trigger, struct tp_buffer *why);

/* Whether there is one of this command on the sink with this number. */
bool tp_trigger_is_there(const struct tp_trigger_command *command, uint64_t serial);

/* Takes one from the list, which is the caller's then. NULL: there is none such. */
struct tp_trigger *tp_trigger_take_off(bool (*is_it)(const struct tp_trigger *trigger, const void *data), const void *data);

#endif /* TP_TRIGGER_LIST_H */
