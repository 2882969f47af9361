/* SPDX-License-Identifier: MIT */
/*
 * record/early.h - which of an event's fields are computed before its record is made: tp/early.h.
 */
#ifndef TP_RECORD_EARLY_H
#define TP_RECORD_EARLY_H

#include <tp/early.h>

/* NULL: none. Set before the event is loaded, and the same ever after: so no lock is needed. */
static inline const tp_early_t *tp_early_of(const struct tp_event *event)
{
	return (const tp_early_t *)event->reserved[1];
}

#endif /* TP_RECORD_EARLY_H */
