/* SPDX-License-Identifier: MIT */
/*
 * events/armed.h - events that triggers switch: they are attached all the time, and a flag says whether they are on. This is
 * the kernel's soft mode, as a trigger can't change program text. Under tp_events_lock, but for the flag.
 */
#ifndef TP_ARMED_H
#define TP_ARMED_H

#include <stdbool.h>
#include <stdint.h>

#include "events/retired.h"

struct tp_event_group;
struct tp_rule;

/* An event in a sink. */
struct tp_armed {
	struct tp_retired retired;
	const struct tp_event_group *group;
	unsigned int users;  /* triggers */
	bool off;            /* changed by triggers at any time */
	uint64_t decided_by; /* the number of the rule that has switched it last, or was there before; 0: none has yet */
	struct {
		bool off;
		uint64_t decided_by;
	} before; /* that rule */
};

static inline bool tp_armed_is_off(const struct tp_armed *armed)
{
	return __atomic_load_n(&armed->off, __ATOMIC_RELAXED);
}

/* The rule decides about the event: if it is new, the event is what it says. */
void tp_armed_follow(struct tp_armed *armed, const struct tp_rule *rule);

/* The rule goes again, as it can't be: if it has switched the event, that is as before. */
void tp_armed_take_back(struct tp_armed *armed, const struct tp_rule *rule);

#endif /* TP_ARMED_H */
