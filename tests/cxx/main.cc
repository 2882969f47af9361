/* SPDX-License-Identifier: MIT */
/*
 * main [PLUGIN]: hits from all files, before main and after it. main throw: a
 * probe throws. Prints how many sites the tracepoint has.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>

#include "points.hh"

static object before_main(0);

static void never_called() __attribute__((used));
static void never_called()
{
	hit_inline(-1);
}

static void throws(int number)
{
	object here(7);

	trace_points_hit("throws", number);
	if (number)
		throw number;
}

static void through_sites()
{
	throws(0);
	try {
		throws(8);
	} catch (int number) {
		trace_points_hit("caught", number);
	}
}

static void throwing_probe()
{
	std::set_terminate([] {
		std::puts("terminated");
		std::fflush(stdout);
		std::_Exit(3);
	});
	register_trace_points_hit([](void *, const char *, int) { throw 1; }, nullptr);
	try {
		trace_points_hit("a probe throws", 0);
	} catch (int) {
		std::puts("caught");
	}
}

static void print_sites()
{
	tp_for_each_tracepoint([](struct tracepoint *tp, void *) {
		struct tp_tracepoint_info info;

		tp_get_tracepoint_info(tp, &info);
		std::printf("%s has %u sites\n", tp->name, info.nr_sites);
	}, nullptr);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !std::strcmp(argv[1], "throw")) {
		throwing_probe();
		return 1;
	}
	hit_in_one();
	hit_in_two();
	hit_in_c();
	through_sites();
	if (argc > 1) {
		void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

		if (!plugin) {
			std::puts(dlerror());
			return 1;
		}
		reinterpret_cast<void (*)()>(dlsym(plugin, "hit_in_one"))();
		dlclose(plugin);
	}
	print_sites();
	return 0;
}
