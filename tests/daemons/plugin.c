/* SPDX-License-Identifier: MIT */
/* plugin.c - works once when it is loaded. */
#define CREATE_TRACE_POINTS
#include "plugin.h"

static void __attribute__((constructor)) work(void)
{
	trace_plugin_work(1000000);
}
