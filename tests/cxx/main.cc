/* SPDX-License-Identifier: MIT */
/*
 * main [PLUGIN]: hits from all files, before main and after it, and prints how
 * many sites the tracepoint has. main throw: a probe throws, in a function that
 * nobody has told so. main exit: a probe ends its thread.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <pthread.h>

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

__attribute__((noinline)) static void hit_without_cleanup()
{
	trace_points_hit("here", 0);
	__asm__ volatile("");
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
		hit_without_cleanup();
	} catch (int) {
		std::puts("caught");
	}
}

static void exiting_probe()
{
	auto *probe = +[](void *, const char *, int) { pthread_exit(nullptr); };
	pthread_t thread;

	register_trace_points_hit(probe, nullptr);
	pthread_create(&thread, nullptr, [](void *) -> void * {
		hit_without_cleanup();
		std::puts("the thread went on");
		return nullptr;
	}, nullptr);
	pthread_join(thread, nullptr);
	unregister_trace_points_hit(probe, nullptr);
	std::puts(tracepoint_synchronize_unregister() ? "it is still a reader" : "it has exited");
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
	if (argc > 1 && !std::strcmp(argv[1], "exit")) {
		exiting_probe();
		return 0;
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
