/* SPDX-License-Identifier: MIT */
/*
 * events/soft.c - see soft.h.
 */
#include "events/events.h"
#include "events/rule.h"
#include "events/soft.h"

bool tp_soft_switch(struct tp_soft *soft, bool on)
{
	return __atomic_exchange_n(&soft->off, !on, __ATOMIC_RELAXED) == on;
}

bool tp_soft_is_on(const struct tp_soft *soft)
{
	return !tp_soft_is_off(soft);
}

void tp_soft_follow(struct tp_soft *soft, const struct tp_rule *rule)
{
	if (rule->number <= soft->decided_by)
		return;
	soft->before.off = tp_soft_is_off(soft);
	soft->before.decided_by = soft->decided_by;
	soft->decided_by = rule->number;
	tp_soft_switch(soft, rule->enable);
}

void tp_soft_take_back(struct tp_soft *soft, const struct tp_rule *rule)
{
	if (soft->decided_by != rule->number)
		return;
	soft->decided_by = soft->before.decided_by;
	tp_soft_switch(soft, !soft->before.off);
}
