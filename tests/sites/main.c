/* SPDX-License-Identifier: MIT */
/*
 * Hits all sites while they are off and on, in turn, and looks at each of
 * their instructions:
 *
 *	main [MODULE]    with those of the shared object, too
 *
 * Compiled with -DMIN_SITES and -DMAX_SITES: how many sites the program has; -DMODULE_HAS_KEYS: whether those of
 * the module have static keys; -DNO_MODULE where there can be none.
 *
 * Says "good" and then, when its destructors have run, "good at the end"; or what has gone wrong.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "keys.h"
#undef CREATE_TRACE_POINTS
#include "module.h"
#include "sites.h"

#define must(condition)                                                                        \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "main.c:%d: not so: %s\n", __LINE__, #condition);      \
			_exit(1);                                                              \
		}                                                                              \
	} while (0)

#define must_be(what, expected)                                                                                \
	do {                                                                                                   \
		const long is = (long)(what), should_be = (long)(expected);                                    \
		if (is != should_be) {                                                                         \
			fprintf(stderr, "main.c:%d: %s is %ld, not %ld (%s)\n", __LINE__, #what, is, should_be, \
				#expected);                                                                    \
			_exit(1);                                                                              \
		}                                                                                              \
	} while (0)

struct count at_start, at_end;

static unsigned int hits;

static void on_hit(void *data, int line)
{
	(void)line;
	++*(unsigned int *)data;
}

/* Hits what it is called by. */
static void on_hit_again(void *data, int line)
{
	TP_LIMIT_RECURSION(3);
	++*(unsigned int *)data;
	trace_keys_hit(line);
}

static void switch_on(void)
{
	must_be(register_trace_keys_hit(on_hit, &hits), 0);
	must_be(register_trace_keys_shared(on_hit, &hits), 0);
}

static void switch_off(void)
{
	must_be(unregister_trace_keys_hit(on_hit, &hits), 0);
	must_be(unregister_trace_keys_shared(on_hit, &hits), 0);
	must_be(tracepoint_synchronize_unregister(), 0);
}

/* ---- The instructions ---- */

static void sites_must_be(bool on)
{
#if defined(__x86_64__)
	for (const struct tp_site *site = TP_OF_INTERFACE(__start_tp_sites); site < TP_OF_INTERFACE(__stop_tp_sites); site++) {
		const uint8_t *code = (const uint8_t *)((intptr_t)&site->code + site->code);
		must_be(*code, on ? 0xe9 : 0xa9);
	}
#else
	(void)on;
#endif
}

struct sums {
	unsigned int here, elsewhere;
};

static void add_sites(struct tracepoint *tp, void *priv)
{
	struct sums *sums = priv;
	struct tp_tracepoint_info info;

	tp_get_tracepoint_info(tp, &info);
	must_be(info.state, tp->enabled ? TP_STATE_ON : TP_STATE_OFF);
	must_be(info.nr_probes, tp->enabled ? 1 : 0);
	if (strncmp(tp->name, "keys_", 5) == 0)
		sums->here += info.nr_sites;
	else
		sums->elsewhere += info.nr_sites;
}

/* All entries of the program's table are of its tracepoints; and there are as many as its sources let expect. */
static void sites_must_be_counted(bool with_module)
{
	struct sums sums = {.here = 0};
	const long here = TP_OF_INTERFACE(__stop_tp_sites) - TP_OF_INTERFACE(__start_tp_sites);

	tp_for_each_tracepoint(add_sites, &sums);
	if (with_module) {
		must((sums.here > here) == MODULE_HAS_KEYS);
		must((sums.elsewhere > 0) == MODULE_HAS_KEYS);
	} else {
		must_be(sums.here, here);
		must_be(sums.elsewhere, 0);
	}
	must(here >= MIN_SITES && here <= MAX_SITES);
}

/* ---- The sites ---- */

static void all_must_be(bool on)
{
	static void (*const functions[])(struct count *c) = {hit_in_c, hit_in_one, hit_in_two};

	sites_must_be(on);
	sites_must_be_counted(false);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct count c = {.reached = 0};
		hits = 0;
		functions[i](&c);
		must(c.reached > 20 && c.asked > 10);
		must_be(hits, on ? c.reached : 0);
		must_be(c.yes, on ? c.asked : 0);
	}
}

static void a_probe_may_hit(void)
{
	hits = 0;
	must_be(register_trace_keys_hit(on_hit_again, &hits), 0);
	trace_keys_hit(__LINE__);
	must_be(hits, 3);
	must_be(unregister_trace_keys_hit(on_hit_again, &hits), 0);
	trace_keys_hit(__LINE__);
	must_be(hits, 3);
}

/* ---- The module ---- */

#ifndef NO_MODULE
static void *function_of(void *module, const char *name)
{
	void *function = dlsym(module, name);

	must(function);
	return function;
}

static void module_must_switch(const char *path)
{
	unsigned int (*hit)(void), (*asked)(void), reached = 0;
	void (*counts_at_end)(unsigned int *reached);

	must_be(register_trace_module_hit(on_hit, &hits), 0);
	must_be(register_trace_keys_shared(on_hit, &hits), 0);
	hits = 0;
	void *module = dlopen(path, RTLD_NOW);
	if (!module)
		fprintf(stderr, "%s\n", dlerror());
	must(module);
	must_be(hits, 2); /* its constructor's */
	sites_must_be_counted(true);
	*(void **)&hit = function_of(module, "module_hit");
	*(void **)&asked = function_of(module, "module_asked");
	*(void **)&counts_at_end = function_of(module, "module_counts_at_end");
	for (int i = 0; i < 3; i++) {
		hits = 0;
		reached = hit();
		must_be(hits, reached);
		must_be(asked(), 2);
		must_be(unregister_trace_module_hit(on_hit, &hits), 0);
		hits = 0;
		hit();
		must_be(hits, 1);
		must_be(asked(), 1);
		must_be(unregister_trace_keys_shared(on_hit, &hits), 0);
		hit();
		must_be(hits, 1);
		must_be(asked(), 0);
		must_be(register_trace_module_hit(on_hit, &hits), 0);
		must_be(register_trace_keys_shared(on_hit, &hits), 0);
	}
	hits = reached = 0;
	counts_at_end(&reached);
	must_be(dlclose(module), 0);
	must_be(reached, 2); /* its destructor's */
	must_be(hits, reached);
	must_be(unregister_trace_module_hit(on_hit, &hits), 0);
	must_be(unregister_trace_keys_shared(on_hit, &hits), 0);
}
#endif

/* ---- Before main and after ---- */

/* No exceptions here: a static program can't have them so early, or so late. */
static __attribute__((constructor(200))) void first_constructor(void)
{
	sites_must_be(false);
	switch_on();
	sites_must_be(true);
}

static __attribute__((destructor(200))) void last_destructor(void)
{
	must(at_end.reached > 20);
	must_be(hits, at_end.reached);
	must_be(at_end.yes, at_end.asked);
	switch_off();
	sites_must_be(false);
	static const char good[] = "good at the end\n";
	must(write(STDOUT_FILENO, good, sizeof(good) - 1) > 0);
}

int main(int argc, char **argv)
{
	must(at_start.reached > 20);
	must_be(hits, at_start.reached);
	must_be(at_start.yes, at_start.asked);
	switch_off();
	for (int i = 0; i < 3; i++) {
		all_must_be(false);
		switch_on();
		all_must_be(true);
		switch_off();
	}
	all_must_be(false);
	a_probe_may_hit();
#ifndef NO_MODULE
	if (argc > 1)
		module_must_switch(argv[1]);
#else
	(void)argc, (void)argv;
#endif
	all_must_be(false);
	puts("good");
	fflush(stdout);
	hits = 0;
	switch_on();
	return 0;
}
