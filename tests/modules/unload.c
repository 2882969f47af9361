/* SPDX-License-Identifier: MIT */
/*
 * Unloads modules with probes (./prober.so) and with sites (./a.so, ./b.so):
 *
 *	unload hits       probers come and go, while three threads hit the tracepoint
 *	unload sits       a thread sits in the probe that is to be unloaded
 *	unload orders     modules with sites and with probes, loaded and unloaded in every
 *	                  order, while others hit and register
 *	unload exit       the process ends while a thread sits in the probe
 *	unload exit-hits  and while threads hit it
 *	unload sites      a thread sits in the probe; the module with the sites is unloaded
 *	unload first      a thread sits in the constructor of a module (./sitter.so), and so
 *	                  has the loader's lock, when the first probe is registered
 *
 * With "early" behind it, the prober registers by itself.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "mod.h"
#include "unload.h"

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "unload.c:%d: not %s\n", __LINE__, #condition);                                \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

static bool early;

/* ---- What the probes call ---- */

static unsigned long calls;
static bool hold;
static int sitting;

void host_enter(void)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&hold, __ATOMIC_ACQUIRE))
		return;
	__atomic_fetch_add(&sitting, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&hold, __ATOMIC_ACQUIRE))
		usleep(100);
	__atomic_fetch_sub(&sitting, 1, __ATOMIC_RELEASE);
}

void host_report(int error)
{
	CHECK(error == 0);
}

/* ---- Modules ---- */

static void *load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		fprintf(stderr, "unload: %s\n", dlerror());
	CHECK(handle);
	return handle;
}

static void *load_prober(void)
{
	void *handle = load("./prober.so");
	int (*begin_prober)(void);

	*(void **)&begin_prober = dlsym(handle, "begin");
	if (!early)
		CHECK(begin_prober() == 0);
	return handle;
}

static void unload(void *handle)
{
	CHECK(dlclose(handle) == 0);
}

static bool is_loaded(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	if (handle)
		dlclose(handle);
	return handle;
}

static void look(struct tracepoint *tp, void *off)
{
	struct tp_tracepoint_info info;

	tp_get_tracepoint_info(tp, &info);
	*(bool *)off = *(bool *)off && info.state == TP_STATE_OFF && info.nr_probes == 0 && !tp->funcs;
}

static bool all_off(void)
{
	bool off = true;

	tp_for_each_tracepoint(look, &off);
	return off;
}

/* ---- Threads that hit ---- */

static bool stop;
static void (*hit_module)(int n);

static void *hit(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		hit_module(1);
	return NULL;
}

static void *hit_once(void *unused)
{
	(void)unused;
	hit_module(1);
	return NULL;
}

static void *load_sites(const char *path)
{
	void *handle = load(path);

	*(void **)&hit_module = dlsym(handle, "hit");
	return handle;
}

static void wait_for_calls(unsigned long more)
{
	unsigned long until = __atomic_load_n(&calls, __ATOMIC_RELAXED) + more;

	while (__atomic_load_n(&calls, __ATOMIC_RELAXED) < until)
		usleep(100);
}

static void hits(void)
{
	pthread_t threads[3];

	void *sites = load_sites("./a.so");
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, hit, NULL);
	for (int round = 0; round < 20; round++) {
		void *prober = load_prober();
		wait_for_calls(50);
		unload(prober);
		CHECK(!is_loaded("./prober.so"));
		unsigned long before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
		CHECK(all_off());
		usleep(1000);
		CHECK(__atomic_load_n(&calls, __ATOMIC_RELAXED) == before);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	unload(sites);
}

/* ---- A thread that sits ---- */

static bool unloaded;

static void *unload_it(void *handle)
{
	unload(handle);
	__atomic_store_n(&unloaded, true, __ATOMIC_RELEASE);
	return NULL;
}

static pthread_t sitting_thread(void)
{
	pthread_t thread;

	__atomic_store_n(&hold, true, __ATOMIC_RELEASE);
	pthread_create(&thread, NULL, hit_once, NULL);
	while (!__atomic_load_n(&sitting, __ATOMIC_ACQUIRE))
		usleep(100);
	return thread;
}

static void waits_for(void *handle, const char *path)
{
	pthread_t thread = sitting_thread(), unloader;

	pthread_create(&unloader, NULL, unload_it, handle);
	usleep(50000);
	CHECK(!__atomic_load_n(&unloaded, __ATOMIC_ACQUIRE));
	__atomic_store_n(&hold, false, __ATOMIC_RELEASE);
	pthread_join(unloader, NULL);
	pthread_join(thread, NULL);
	CHECK(!is_loaded(path));
}

static void sits(void)
{
	void *sites = load_sites("./a.so");

	waits_for(load_prober(), "./prober.so");
	CHECK(all_off());
	hit_module(1);
	unload(sites);
}

static void sites(void)
{
	void *prober = load_prober();

	waits_for(load_sites("./a.so"), "./a.so");
	unload(prober);
}

/* ---- All orders ---- */

static void *hit_another(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		void (*hit_b)(int n);
		void *handle = load("./b.so");
		*(void **)&hit_b = dlsym(handle, "hit");
		for (int i = 0; i < 100; i++)
			hit_b(i);
		unload(handle);
	}
	return NULL;
}

static void hear(void *data, int n)
{
	(void)data;
	(void)n;
}

static void *register_and_remove(void *data)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		CHECK(register_trace_mod_hit(hear, data) == 0);
		CHECK(unregister_trace_mod_hit(hear, data) == 0);
		CHECK(tracepoint_synchronize_unregister() == 0);
	}
	return NULL;
}

static void one_order(bool sites_first, bool sites_leave_first)
{
	void *probes = sites_first ? NULL : load_prober();
	void *module = load_sites("./a.so");

	if (!probes)
		probes = load_prober();
	unsigned long before = __atomic_load_n(&calls, __ATOMIC_RELAXED);
	hit_module(1);
	CHECK(__atomic_load_n(&calls, __ATOMIC_RELAXED) >= before + 2);
	if (sites_leave_first) {
		unload(module);
		unload(probes);
	} else {
		unload(probes);
		hit_module(2);
		unload(module);
	}
	CHECK(!is_loaded("./prober.so"));
	CHECK(!is_loaded("./a.so"));
}

static void orders(void)
{
	pthread_t threads[4];
	char data[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i < 2 ? hit_another : register_and_remove, &data[i]);
	for (int i = 0; i < 80; i++)
		one_order(i & 1, i & 2);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(all_off());
}

/* ---- The first probe ---- */

static void *load_sitter(void *unused)
{
	(void)unused;
	return load("./sitter.so");
}

static void first(void)
{
	pthread_t thread;
	char data;

	__atomic_store_n(&hold, true, __ATOMIC_RELEASE);
	pthread_create(&thread, NULL, load_sitter, NULL);
	while (!__atomic_load_n(&sitting, __ATOMIC_ACQUIRE))
		usleep(100);
	CHECK(register_trace_mod_hit(hear, &data) == 0);
	__atomic_store_n(&hold, false, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	CHECK(unregister_trace_mod_hit(hear, &data) == 0);
}

/* ---- Exit ---- */

static void exit_sits(void)
{
	load_sites("./a.so");
	load_prober();
	sitting_thread();
}

static void exit_hits(void)
{
	pthread_t thread;

	load_sites("./a.so");
	load_prober();
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, hit, NULL);
	wait_for_calls(50);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"hits", hits},   {"sits", sits},      {"sites", sites},        {"orders", orders},
	     {"first", first}, {"exit", exit_sits}, {"exit-hits", exit_hits}};

int main(int argc, char **argv)
{
	early = argc == 3 && strcmp(argv[2], "early") == 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	}
	return 2;
}
