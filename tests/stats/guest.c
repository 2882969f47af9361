/* SPDX-License-Identifier: MIT */
/* guest.c - a module that is loaded while statistics are counted. */
#define CREATE_TRACE_POINTS
#include "guest.h"

void visit(int times);

void visit(int times)
{
	for (int i = 0; i < times; i++)
		trace_guest_visit(i);
}
