/* SPDX-License-Identifier: MIT */
/*
 * A module with probes, and nothing else. It forgets to remove what begin() has
 * registered; as EARLY, its constructor registers, having done so OFTEN already;
 * as TIDY, its destructor removes (in C++, that of an object). As SITTER, its
 * constructor does nothing but sit.
 */
#include <stdlib.h>

#include "mod.h"
#include "unload.h"

#define MAGIC 0x70726f62

#ifndef OFTEN
#define OFTEN 0
#endif

static volatile unsigned int magics[2] = {MAGIC, MAGIC};

/* Behind host_enter(), too, it is the module's code that runs, on the module's data. */
static void hear(void *data, int n)
{
	volatile unsigned int *magic = (volatile unsigned int *)data;

	(void)n;
	host_enter();
	for (int i = 0; i < 100; i++) {
		if (*magic != MAGIC)
			abort();
	}
}

#define DATA(i) ((void *)(uintptr_t)&magics[i])

int begin(void)
{
	int error = register_trace_mod_hit(hear, DATA(0));

	return error ? error : register_trace_prio_mod_hit(hear, DATA(1), 20);
}

int end(void)
{
	int error = unregister_trace_mod_hit(hear, DATA(0));

	return error ? error : unregister_trace_mod_hit(hear, DATA(1));
}

#ifdef EARLY
static void __attribute__((constructor)) come(void)
{
	for (int i = 0; i < OFTEN; i++) {
		host_report(register_trace_mod_hit(hear, DATA(0)));
		host_report(unregister_trace_mod_hit(hear, DATA(0)));
	}
	host_report(begin());
}
#endif

#ifdef SITTER
static void __attribute__((constructor)) sit(void)
{
	host_enter();
}
#endif

#ifdef TIDY
#ifdef __cplusplus
namespace
{
struct leaver {
	~leaver() { host_report(end()); }
};
leaver leaver;
}
#else
static void __attribute__((destructor)) go(void)
{
	host_report(end());
}
#endif
#endif
