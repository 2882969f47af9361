/* SPDX-License-Identifier: MIT */
/*
 * events/armed.c - see armed.h.
 */
#include "events/events.h"
#include "events/filtering.h"
#include "events/armed.h"

bool tp_armed_switch(struct tp_armed *armed, bool on)
{
	return __atomic_exchange_n(&armed->off, !on, __ATOMIC_RELAXED) == on;
}

bool tp_armed_is_on(const struct tp_armed *armed)
{
	return !tp_armed_is_off(armed);
}

void tp_armed_follow(struct tp_armed *armed, const struct tp_rule *rule)
{
	if (rule->number <= armed->decided_by)
		return;
	armed->before.off = tp_armed_is_off(armed);
	armed->before.decided_by = armed->decided_by;
	armed->decided_by = rule->number;
	tp_armed_switch(armed, rule->enable);
}

void tp_armed_take_back(struct tp_armed *armed, const struct tp_rule *rule)
{
	if (armed->decided_by != rule->number)
		return;
	armed->decided_by = armed->before.decided_by;
	tp_armed_switch(armed, !armed->before.off);
}
