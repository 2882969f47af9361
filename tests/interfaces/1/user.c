/* SPDX-License-Identifier: MIT */
/* A module that hits a tracepoint of another one. */
#include "plugin.h"

__attribute__((visibility("default"))) void user_hit(void);

void user_hit(void)
{
	trace_plugin_shared(8);
}
