/* SPDX-License-Identifier: MIT */
/*
 * sinks/latency/slowest.c - the slowest pairs. Threads and their handlers that have a slower one replace the least of those
 * that nobody is writing, and nobody waits; a reader copies again what has changed meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "sinks/latency/latency.h"

static uint64_t ns_of(const struct tp_latency_slot *slot)
{
	return __atomic_load_n(&slot->slow.ns, __ATOMIC_RELAXED);
}

/* NULL: others write to all of them. */
static struct tp_latency_slot *least(const struct tp_latency_slowest *slowest, uint64_t *sequence)
{
	struct tp_latency_slot *found = NULL;

	for (size_t i = 0; i < slowest->nr; i++) {
		struct tp_latency_slot *slot = &slowest->slots[i];
		const uint64_t now = __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
		if (now & 1 || (found && ns_of(slot) >= ns_of(found)))
			continue;
		found = slot;
		*sequence = now;
	}
	return found;
}

/* What somebody writes just now may be less than all others. */
static void update_least(struct tp_latency_slowest *slowest)
{
	uint64_t least_ns = UINT64_MAX;

	for (size_t i = 0; i < slowest->nr; i++) {
		if (__atomic_load_n(&slowest->slots[i].sequence, __ATOMIC_ACQUIRE) & 1)
			return;
		if (ns_of(&slowest->slots[i]) < least_ns)
			least_ns = ns_of(&slowest->slots[i]);
	}
	__atomic_store_n(&slowest->least, least_ns, __ATOMIC_RELAXED);
}

/* What a reader may copy meanwhile is stored in words. */
static void write_slow(struct tp_latency_slow *to, const struct tp_latency_slow *from)
{
	const uint64_t *words = (const uint64_t *)from;

	for (size_t i = 0; i < sizeof(*from) / sizeof(*words); i++)
		__atomic_store_n((uint64_t *)to + i, words[i], __ATOMIC_RELAXED);
}

void tp_latency_slowest_add(struct tp_latency_slowest *slowest, const struct tp_latency_slow *slow)
{
	for (size_t i = 0; i <= slowest->nr && slow->ns > __atomic_load_n(&slowest->least, __ATOMIC_RELAXED); i++) {
		uint64_t sequence;
		struct tp_latency_slot *slot = least(slowest, &sequence);
		if (!slot || ns_of(slot) >= slow->ns)
			return;
		if (!__atomic_compare_exchange_n(&slot->sequence, &sequence, sequence + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_thread_fence(__ATOMIC_RELEASE); /* a reader that sees a new word sees the odd number, too */
		write_slow(&slot->slow, slow);
		__atomic_store_n(&slot->sequence, sequence + 2, __ATOMIC_RELEASE);
		update_least(slowest);
		return;
	}
}

static bool copy(struct tp_latency_slow *to, const struct tp_latency_slot *slot)
{
	uint64_t before, *words = (uint64_t *)to;

	do {
		before = __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
		for (size_t i = 0; i < sizeof(*to) / sizeof(*words); i++)
			words[i] = __atomic_load_n((const uint64_t *)&slot->slow + i, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (!(before & 1) && __atomic_load_n(&slot->sequence, __ATOMIC_RELAXED) != before);
	return !(before & 1) && to->ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t one = ((const struct tp_latency_slow *)a)->ns, two = ((const struct tp_latency_slow *)b)->ns;

	return (one < two) - (one > two);
}

size_t tp_latency_slowest_copy(const struct tp_latency_slowest *slowest, struct tp_latency_slow *to)
{
	size_t nr = 0;

	for (size_t i = 0; i < slowest->nr; i++)
		nr += copy(&to[nr], &slowest->slots[i]);
	qsort(to, nr, sizeof(*to), compare);
	return nr;
}
