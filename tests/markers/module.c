/* SPDX-License-Identifier: MIT */
/* A module with a marker, which is loaded and unloaded. */
#include <tp/marker.h>

void module_hit(int n);

__attribute__((visibility("default"))) void module_hit(int n)
{
	for (int i = 0; i < n; i++)
		trace_mark(module_hit, "i %d of %s", i, "module");
}
