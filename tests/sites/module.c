/* SPDX-License-Identifier: MIT */
/* A shared object with sites of the program's tracepoint and of its own, also in its constructor and destructor. */
#define CREATE_TRACE_POINTS
#include "module.h"
#undef CREATE_TRACE_POINTS

/* Of the program's it has only the sites. */
#define HIT(n) (++(n), trace_module_hit(__LINE__))
#include "keys.h"

static unsigned int *reached_at_end;

unsigned int module_hit(void);
unsigned int module_asked(void);
void module_counts_at_end(unsigned int *reached);

unsigned int module_hit(void)
{
	unsigned int n = 0;

	for (int i = 0; i < 3; i++)
		HIT(n);
	HIT(n), HIT(n);
	n++, trace_keys_shared(__LINE__);
	return n;
}

unsigned int module_asked(void)
{
	return (unsigned int)trace_module_hit_enabled() + trace_keys_shared_enabled();
}

void module_counts_at_end(unsigned int *reached)
{
	reached_at_end = reached;
}

static __attribute__((constructor)) void constructor(void)
{
	unsigned int n = 0;

	HIT(n);
	trace_keys_shared(__LINE__);
}

static __attribute__((destructor)) void destructor(void)
{
	if (!reached_at_end)
		return;
	HIT(*reached_at_end);
	++*reached_at_end, trace_keys_shared(__LINE__);
}
