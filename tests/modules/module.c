/* SPDX-License-Identifier: MIT */
/* A module with one event, built as several shared objects; see test_modules.py. */
#define CREATE_TRACE_POINTS
#include "mod.h"

__attribute__((visibility("default"))) void hit(int n);

void hit(int n)
{
	trace_mod_hit(n);
}
