/* SPDX-License-Identifier: MIT */
/* guest.c - a module with some events: the first that its process loads, so that it is read then what the environment says. */
#define CREATE_TRACE_POINTS
#include "guest.h"

__attribute__((visibility("default"))) void hit(void);

void hit(void)
{
	for (int i = 0; i < 20; i++) {
		trace_guest_number(i, i / 2.0);
		trace_guest_text("a text\x1b[2J\n", i);
	}
}
