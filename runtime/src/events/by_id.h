/* SPDX-License-Identifier: MIT */
/*
 * events/by_id.h - what prints the records of an id, where that is no generated code: a printer gets no more than the
 * record.
 */
#ifndef TP_BY_ID_H
#define TP_BY_ID_H

#include <stdbool.h>
#include <stdint.h>

/* Under tp_events_lock. NULL: nothing any more. False: no memory. */
bool tp_by_id_set(uint16_t id, const void *printed_by);

/* Safe in signal handlers. NULL: nothing was set. */
const void *tp_by_id(uint16_t id);

#endif /* TP_BY_ID_H */
