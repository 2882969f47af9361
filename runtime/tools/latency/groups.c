/* SPDX-License-Identifier: MIT */
#include "latency/latency.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

static void drop_group(struct latency_group *group)
{
	free(group->name);
	free(group->values);
	free(group->buckets);
}

static void drop_pair(const struct latency_pair *pair)
{
	free(pair->begin);
	free(pair->end);
}

void latency_free(struct latency *latency)
{
	for (size_t i = 0; i < latency->nr_groups; i++)
		drop_group(&latency->groups[i]);
	for (size_t i = 0; i < latency->nr_slowest; i++)
		drop_pair(&latency->slowest[i]);
	free(latency->groups);
	free(latency->slowest);
	free(latency->begin);
	free(latency->end);
	free(latency->key);
	free(latency->by);
	*latency = (struct latency){.groups = NULL};
}

static struct latency_group *group_new(struct latency *latency, const char *name, const char *values)
{
	struct latency_group *groups = reallocarray(latency->groups, latency->nr_groups + 1, sizeof(*groups));
	struct latency_group made = {.name = strdup(name), .values = strdup(values), .buckets = calloc(TP_NR_BUCKETS, sizeof(uint64_t))};

	if (groups)
		latency->groups = groups;
	if (!groups || !made.name || !made.values || !made.buckets) {
		free(made.name);
		free(made.values);
		free(made.buckets);
		fail_no_memory();
		return NULL;
	}
	groups[latency->nr_groups] = made;
	return &groups[latency->nr_groups++];
}

/* There are some hundreds at most. */
struct latency_group *latency_group(struct latency *latency, const char *name, const char *values)
{
	for (size_t i = 0; i < latency->nr_groups; i++) {
		if (strcmp(latency->groups[i].values, values) == 0)
			return &latency->groups[i];
	}
	return group_new(latency, name, values);
}

void latency_group_add(struct latency_group *group, uint64_t ns)
{
	group->least = !group->count || ns < group->least ? ns : group->least;
	group->most = ns > group->most ? ns : group->most;
	group->count++;
	group->sum += ns;
	group->buckets[tp_bucket_of(ns)]++;
}

void latency_group_merge(struct latency_group *to, const struct latency_group *from)
{
	if (!from->count)
		return;
	to->least = !to->count || from->least < to->least ? from->least : to->least;
	to->most = from->most > to->most ? from->most : to->most;
	to->count += from->count;
	to->sum += from->sum;
	for (uint32_t i = 0; i < TP_NR_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
}

uint64_t latency_percentile(const struct latency_group *group, double part)
{
	const double wanted = part * (double)group->count;
	uint64_t before = 0;

	for (uint32_t i = 0; i < TP_NR_BUCKETS; i++) {
		before += group->buckets[i];
		if (!before || (double)before < wanted)
			continue;
		const uint64_t middle = tp_bucket_begin(i) + tp_bucket_width(i) / 2;
		return middle < group->least ? group->least : middle > group->most ? group->most : middle;
	}
	return group->most;
}

/* ---- The slowest ---- */

static bool make_room(struct latency *latency)
{
	struct latency_pair *pairs = reallocarray(latency->slowest, latency->nr_slowest + 1, sizeof(*pairs));

	if (!pairs)
		return fail_no_memory();
	latency->slowest = pairs;
	latency->nr_slowest++;
	return true;
}

void latency_keep(struct latency *latency, size_t wanted, struct latency_pair pair)
{
	size_t at = latency->nr_slowest;

	while (at && latency->slowest[at - 1].ns < pair.ns)
		at--;
	const bool is_full = latency->nr_slowest == wanted;
	if (at == wanted || (!is_full && !make_room(latency))) {
		drop_pair(&pair);
		return;
	}
	if (is_full)
		drop_pair(&latency->slowest[wanted - 1]);
	memmove(&latency->slowest[at + 1], &latency->slowest[at], (latency->nr_slowest - 1 - at) * sizeof(pair));
	latency->slowest[at] = pair;
}

/* ---- Order ---- */

static int compare(const void *a, const void *b)
{
	const struct latency_group *one = a, *two = b;

	if (one->count != two->count)
		return one->count < two->count ? 1 : -1;
	return strcmp(one->name, two->name);
}

void latency_sort(struct latency *latency)
{
	if (latency->nr_groups)
		qsort(latency->groups, latency->nr_groups, sizeof(*latency->groups), compare);
	/* Of a begin that has no end so far. */
	while (latency->nr_groups && !latency->groups[latency->nr_groups - 1].count)
		drop_group(&latency->groups[--latency->nr_groups]);
}
