/* SPDX-License-Identifier: MIT */
/*
 * record/losses.c - see losses.h.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/losses.h"

/* So that all fit into a page. Those of further children are the last one's, of which nobody is the only owner. */
#define NR_CHILDREN 84u

struct tp_losses {
	int opener;
	struct tp_losses_of_child of[NR_CHILDREN];
};

struct tp_losses *tp_losses_new(void)
{
	struct tp_losses *losses = mmap(NULL, sizeof(*losses), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (losses == MAP_FAILED)
		return NULL;
	losses->opener = getpid();
	return losses;
}

void tp_losses_free(struct tp_losses *losses)
{
	if (losses)
		munmap(losses, sizeof(*losses));
}

static bool has_lost(const struct tp_losses_of_child *child)
{
	unsigned long any = 0;

	for (enum tp_lost cause = 0; cause < TP_NR_LOST; cause++)
		any |= __atomic_load_n(&child->lost[cause], __ATOMIC_RELAXED);
	return any != 0;
}

/* False: it is another child's, who lives or has lost something. */
static bool take(struct tp_losses_of_child *child, int pid)
{
	int was = __atomic_load_n(&child->pid, __ATOMIC_RELAXED);

	if (was && (has_lost(child) || kill(was, 0) == 0 || errno != ESRCH))
		return false;
	return __atomic_compare_exchange_n(&child->pid, &was, pid, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void tp_losses_in_child(struct tp_losses *losses, struct tp_sink *sink)
{
	const int error = errno, pid = getpid();
	unsigned int i = 0;

	while (i < NR_CHILDREN - 1 && !take(&losses->of[i], pid))
		i++;
	sink->reserved[2] = losses->of[i].lost;
	errno = error;
}

bool tp_losses_next(const struct tp_losses *losses, unsigned int *at, struct tp_losses_of_child *child)
{
	if (losses->opener != getpid())
		return false;
	while (*at < NR_CHILDREN && !has_lost(&losses->of[*at]))
		++*at;
	if (*at == NR_CHILDREN)
		return false;
	*child = losses->of[(*at)++];
	return true;
}
