// SPDX-License-Identifier: MIT
/* Loads a module into a namespace of its own (dlmopen), and the same into the program's: whose sites call the program's probe? */
#include <dlfcn.h>
#include <stdio.h>

#define CREATE_TRACE_POINTS
#include "names.h"

static void probe(void *data, int n)
{
	(void)data;
	printf("probe %d\n", n);
	fflush(stdout);
}

static void hit_in(void *module)
{
	void (*hit)(int);

	*(void **)&hit = dlsym(module, "hit");
	hit(2);
	dlclose(module);
}

int main(int argc, char **argv)
{
	void *other = argc == 2 ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) : NULL;

	if (!other || register_trace_names_hit(probe, NULL) != 0)
		return 1;
	trace_names_hit(1);
	hit_in(other); /* the probe is not called */
	void *own = dlopen(argv[1], RTLD_NOW);
	if (!own)
		return 2;
	hit_in(own); /* here it is */
	return unregister_trace_names_hit(probe, NULL) != 0;
}
