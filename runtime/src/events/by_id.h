/* SPDX-License-Identifier: MIT */
/*
 * events/by_id.h - the event of a record's id, where no generated code prints it: a printer gets no more than the
 * record.
 */
#ifndef TP_BY_ID_H
#define TP_BY_ID_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/event.h>

/* Under tp_events_lock. NULL: none any more. False: no memory. */
bool tp_by_id_set(uint16_t id, const struct tp_event *event);

/* Safe in signal handlers. NULL: none was set. */
const struct tp_event *tp_by_id(uint16_t id);

#endif /* TP_BY_ID_H */
