/* SPDX-License-Identifier: MIT */
/* The library that defines the tracepoints of exp.tp, with a site of each. */
#define CREATE_TRACE_POINTS
#include "exp.h"

__attribute__((visibility("default"))) void library_hit(int n);

void library_hit(int n)
{
	trace_exp_hit(n, "library");
	trace_exp_own(n);
}
