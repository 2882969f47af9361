/* SPDX-License-Identifier: MIT */
/* plugin.c - a module for early.c, with the program's events and another one. */
#define TP_EARLY_FILTERS 1
#define CREATE_TRACE_POINTS
#include "early.h"
#include "plugin.h"

unsigned long early_computed __attribute__((visibility("hidden")));

__attribute__((visibility("default"))) void hits(const char *nowhere);

void hits(const char *nowhere)
{
	static const struct early_thing thing = {.size = 8, .next = NULL};

	trace_plugin_hit(2, nowhere);
	trace_plugin_hit(1, "accepted");
	trace_early_hit(2, 0, &thing, nowhere);
	trace_early_hit(1, 0, &thing, "of the plugin");
}
