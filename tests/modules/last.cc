/* SPDX-License-Identifier: MIT */
/* A program that unloads its module with probes where it ends itself, as C++ programs do, and goes on hitting. */
#include <cstdio>
#include <dlfcn.h>

#include "mod.h"
#include "unload.h"

void host_enter(void)
{
	std::puts("probe");
}

void host_report(int error)
{
	if (error)
		std::printf("error %d\n", error);
}

namespace {

struct Last {
	~Last()
	{
		trace_mod_hit(2);
		std::puts("hit");
	}
} last;

struct Manager {
	void *module = nullptr;

	~Manager()
	{
		dlclose(module);
	}
} manager;

} // namespace

int main()
{
	manager.module = dlopen("./prober.so", RTLD_NOW);
	trace_mod_hit(1);
	return 0;
}
