/* SPDX-License-Identifier: MIT */
#define CREATE_TRACE_POINTS
#include "module.h"

void hit(int n);
void hit(int n)
{
	trace_sandbox_module(n);
}
