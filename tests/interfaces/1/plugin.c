/* SPDX-License-Identifier: MIT */
/* A module that comes and goes, with tracepoints, a marker, a probe and an import of its own. */
#define CREATE_TRACE_POINTS
#include "plugin.h"

#include <stdio.h>
#include <tp/marker.h>

static void probe(void *data, int n)
{
	printf("plugin's probe: %d %s\n", n, (const char *)data);
}

__attribute__((visibility("default"))) void plugin_hit(void);

void plugin_hit(void)
{
	printf("plugin: register %d\n", register_trace_plugin_shared(probe, (void *)(uintptr_t)"data"));
	trace_plugin_hit("from the plugin");
	trace_plugin_shared(7);
	trace_mark(plugin_mark, "text %s", "in the plugin");
	/* The probe goes with the module. */
}
