/* SPDX-License-Identifier: MIT */
/* What keys.c loads: sites of an event of its own, and of one of the program's. late.c has none: ALONE. */
#define CREATE_TRACE_POINTS
#include "module.h"
#undef CREATE_TRACE_POINTS
#include "keys.h"

__attribute__((visibility("default"))) void module_hit(int n);

void module_hit(int n)
{
	trace_module_hit(n);
#ifndef ALONE
	trace_keys_shared((unsigned long)n);
#endif
}
