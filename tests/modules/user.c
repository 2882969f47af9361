/* SPDX-License-Identifier: MIT */
/*
 * A program with sites of a library's tracepoint, and a module (./importer.so)
 * with more. Each site is hit off, on, off, on, with the module loaded
 * in between; the calls of the probe are printed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "exp.h"

#ifdef __cplusplus
extern "C"
#endif
void library_hit(int n);

static void (*module_hit)(int n);
static bool (*module_enabled)(void);

static void hear(void *data, int n, const char *where)
{
	(void)data;
	printf("%s %d\n", where, n);
}

static void hit(int n)
{
	printf("%s%s:\n", trace_exp_hit_enabled() ? "on" : "off", module_hit && module_enabled() ? ", on" : "");
	library_hit(n);
	trace_exp_hit(n, "program");
	if (module_hit)
		module_hit(n);
}

static void check(int error)
{
	if (error)
		exit(3);
}

int main(void)
{
	hit(1);
	check(register_trace_exp_hit(hear, NULL));
	hit(2);
	void *module = dlopen("./importer.so", RTLD_NOW | RTLD_LOCAL);
	if (!module) {
		fprintf(stderr, "user: %s\n", dlerror());
		return 1;
	}
	*(void **)&module_hit = dlsym(module, "module_hit");
	*(void **)&module_enabled = dlsym(module, "module_enabled");
	hit(3);
	check(unregister_trace_exp_hit(hear, NULL));
	hit(4);
	check(register_trace_exp_hit(hear, NULL));
	hit(5);
	module_hit = NULL;
	dlclose(module);
	hit(6);
	return 0;
}
