/* SPDX-License-Identifier: MIT */
/*
 * start.c - a program with the tracepoints that start.py makes.
 *
 *	start           ends
 *	start stay      waits until its input ends, so that start.py can look at the process
 *	start enable    opens a CTF sink and enables all events before; with HAS_SINKS only
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef HAS_SINKS
#include <tp/module.h>
#include <tp/tp.h>

/*
 * With the linker's --wrap, modules announce themselves to these instead of the
 * runtime: what is left of the start is the dynamic loader's and the kernel's.
 */
void __wrap_tp_module_announce(struct tp_module *module);
void __wrap_tp_module_announce(struct tp_module *module)
{
	(void)module;
}

void __wrap_tp_module_unload(struct tp_module *module);
void __wrap_tp_module_unload(struct tp_module *module)
{
	(void)module;
}

static bool prepare(const char *what)
{
	if (strcmp(what, "enable") == 0) {
		struct tp_sink *sink = tp_ctf_sink("shm/trace", NULL);
		return sink && tp_enable(sink, "*") > 0;
	}
	return strcmp(what, "stay") == 0;
}
#else
static bool prepare(const char *what)
{
	return strcmp(what, "stay") == 0;
}
#endif

int main(int argc, char **argv)
{
	if (argc < 2)
		return 0;
	if (!prepare(argv[1])) {
		fprintf(stderr, "start: %s has failed\n", argv[1]);
		return 1;
	}
	puts("here");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
