/* SPDX-License-Identifier: MIT */
/* A module with an event. */
#define CREATE_TRACE_POINTS
#include "module.h"

__attribute__((visibility("default"))) void hit(int n);

void hit(int n)
{
	trace_ltmod_hit(n);
}
