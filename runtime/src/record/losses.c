/* SPDX-License-Identifier: MIT */
/*
 * record/losses.c - see losses.h.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "record/losses.h"

/* So that all fit into a page. Those of further children are the last one's, of which nobody is the only owner. */
#define NR_CHILDREN 85u
#define SIZE (NR_CHILDREN * sizeof(struct tp_losses_of_child))

bool tp_losses_begin(struct tp_losses *losses)
{
	void *shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*losses = (struct tp_losses){.of = shared};
	return shared != MAP_FAILED;
}

void tp_losses_end(const struct tp_losses *losses)
{
	munmap(losses->of, SIZE);
}

void tp_losses_in_child(struct tp_losses *losses, struct tp_sink *sink)
{
	losses->own = NULL;
	losses->child = getpid();
	sink->reserved[2] = losses;
}

static bool take(struct tp_losses_of_child *child, int pid)
{
	int nobody = 0;

	return __atomic_compare_exchange_n(&child->pid, &nobody, pid, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || nobody == pid;
}

/* A child that loses nothing needs no place. */
void tp_sink_count_for_opener(struct tp_sink *sink, enum tp_lost cause, unsigned long nr)
{
	struct tp_losses *losses = sink->reserved[2];
	struct tp_losses_of_child *own = __atomic_load_n(&losses->own, __ATOMIC_RELAXED);

	if (!own) {
		own = losses->of;
		while (own != losses->of + NR_CHILDREN - 1 && !take(own, losses->child))
			own++;
		__atomic_store_n(&losses->own, own, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&own->lost[cause], nr, __ATOMIC_RELAXED);
}

static bool has_lost(const struct tp_losses_of_child *child)
{
	unsigned long any = 0;

	for (enum tp_lost cause = 0; cause < TP_NR_LOST; cause++)
		any |= __atomic_load_n(&child->lost[cause], __ATOMIC_RELAXED);
	return any != 0;
}

bool tp_losses_next(const struct tp_losses *losses, unsigned int *at, struct tp_losses_of_child *child)
{
	while (!losses->child && *at < NR_CHILDREN) {
		*child = losses->of[(*at)++];
		if (has_lost(child))
			return true;
	}
	return false;
}
