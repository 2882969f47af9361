/* SPDX-License-Identifier: MIT */
/* A module like module.c, whose event has another prototype. */
struct thing;

#define CREATE_TRACE_POINTS
#include "other.h"

__attribute__((visibility("default"))) void hit(int n);

void hit(int n)
{
	trace_mod_hit(0, n);
}
