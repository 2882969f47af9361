/* SPDX-License-Identifier: MIT */
/* The program's sites, compiled twice: as first_... and second_..., perhaps of different kinds. */
#include "keys.h"
#include "sites.h"

void SITES(hit)(int n)
{
	trace_keys_hit(n, "some text", n / 4.0L);
}

/* Nothing else to do, so that the test can tell what a site that is off consists of. */
void SITES(shared)(unsigned long n)
{
	trace_keys_shared(n);
}

/* Runs on while sites are switched, in one call: the processor has every reason to keep the code that it has. */
unsigned long SITES(loop)(const bool *stop)
{
	unsigned long n = 0;

	for (; !__atomic_load_n(stop, __ATOMIC_RELAXED); n++)
		trace_keys_shared(n);
	return n;
}
