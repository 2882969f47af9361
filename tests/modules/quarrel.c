/* SPDX-License-Identifier: MIT */
/*
 * Loads modules that agree, and that don't, on a tracepoint's prototype:
 *
 *	quarrel STEP...
 *
 * A step is "+a" to load ./a.so, "-a" to unload it, "a" to hit it; "on" and
 * "off" to register and unregister a probe of the prototype (int), and "?" to
 * list all tracepoints.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "mod.h"

static struct {
	const char *name;
	void *handle;
} modules[] = {{"a", NULL}, {"b", NULL}, {"other", NULL}, {"custom", NULL}};

static void **handle_of(const char *name)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		if (strcmp(modules[i].name, name) == 0)
			return &modules[i].handle;
	}
	fprintf(stderr, "quarrel: what is %s?\n", name);
	exit(2);
}

static void load(const char *name)
{
	char path[40];

	snprintf(path, sizeof(path), "./%s.so", name);
	*handle_of(name) = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!*handle_of(name))
		fprintf(stderr, "quarrel: %s\n", dlerror());
}

static void hit_module(const char *name)
{
	void (*hit)(int n);

	*(void **)&hit = dlsym(*handle_of(name), "hit");
	printf("hit %s\n", name);
	hit(7);
}

static void hear(void *data, int n)
{
	printf("%s %d\n", (const char *)data, n);
}

static char heard[] = "heard";

static void list(struct tracepoint *tp, void *unused)
{
	static const char *const states[] = {"unloaded", "off", "on", "refused", "failed"};
	struct tp_tracepoint_info info;

	(void)unused;
	tp_get_tracepoint_info(tp, &info);
	const char *module = strrchr(info.module, '/');
	const char *file = strrchr(tp->file, '/');
	printf("%s(%s) of %s:%d in %s: %s, %u sites, %u probes\n", tp->name, tp->proto, file ? file + 1 : tp->file, tp->line,
	       module ? module + 1 : info.module, states[info.state], info.nr_sites, info.nr_probes);
}

int main(int argc, char **argv)
{
	int error = 0;

	for (int i = 1; i < argc && !error; i++) {
		const char *step = argv[i];
		if (strcmp(step, "on") == 0)
			error = register_trace_mod_hit(hear, heard);
		else if (strcmp(step, "off") == 0)
			error = unregister_trace_mod_hit(hear, heard);
		else if (strcmp(step, "?") == 0)
			tp_for_each_tracepoint(list, NULL);
		else if (*step == '+')
			load(step + 1);
		else if (*step == '-')
			dlclose(*handle_of(step + 1));
		else
			hit_module(step);
	}
	if (error)
		printf("%s\n", strerror(-error));
	return 0;
}
