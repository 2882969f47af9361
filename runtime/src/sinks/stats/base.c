/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/base.c - hits and intervals, added up.
 */
#include "sinks/stats/stats.h"

void tp_stats_base_add(struct tp_stats_base *total, const struct tp_stats_base *base)
{
	if (!total->hits || base->first < total->first)
		total->first = base->first;
	if (!total->hits || base->last > total->last)
		total->last = base->last;
	total->hits += base->hits;
	if (!base->intervals)
		return;
	if (!total->intervals || base->min < total->min)
		total->min = base->min;
	if (!total->intervals || base->max > total->max)
		total->max = base->max;
	total->intervals += base->intervals;
	total->sum += base->sum;
}
