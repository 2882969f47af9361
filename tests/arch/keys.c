/* SPDX-License-Identifier: MIT */
/*
 * Switches sites on and off, on a processor that may be an emulated one:
 *
 *	keys switch     in turn, with each way to hit them
 *	keys storm      while two threads run over them
 *	keys module     those of ./module.so, too, which comes and goes meanwhile
 *	keys hit        hits only, for what the environment enables
 *
 * Ends with status 0, or says what has gone wrong.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CREATE_TRACE_POINTS
#include "keys.h"
#undef CREATE_TRACE_POINTS
#include "module.h"
#include "sites.h"

#define NOT_IN_TIME 600 /* seconds: a site that a thread has not seen switched by then never will be */

#define must(condition)                                                                                                \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "keys: %s:%d: %s\n", __FILE__, __LINE__, #condition);                          \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

/* A probe's data: poisoned before it is freed, so that a late call shows. */
struct counter {
	unsigned int magic;
	unsigned long hits;
	unsigned long of_module; /* of these, those of module.so */
};

#define ALIVE 0xC0DE

/* What module.so says, and no loop gets to. */
#define FROM_MODULE (-1ul)

static void count(struct counter *counter)
{
	must(__atomic_load_n(&counter->magic, __ATOMIC_RELAXED) == ALIVE);
	__atomic_fetch_add(&counter->hits, 1, __ATOMIC_RELAXED);
}

static void on_hit(void *data, int n, const char *text, long double real)
{
	must(real * 4 == n && strcmp(text, "some text") == 0);
	count(data);
}

static void on_shared(void *data, unsigned long n)
{
	struct counter *counter = data;

	count(counter);
	if (n == FROM_MODULE)
		counter->of_module++;
}

static void on_module(void *data, int n)
{
	(void)n;
	count(data);
}

static struct counter *new_counter(void)
{
	struct counter *counter = calloc(1, sizeof(*counter));

	must(counter);
	counter->magic = ALIVE;
	return counter;
}

static unsigned long done_with(struct counter *counter)
{
	unsigned long hits;

	tracepoint_synchronize_unregister();
	hits = counter->hits;
	counter->magic = 0xDEAD;
	free(counter);
	return hits;
}

static void hit_all(void)
{
	first_hit(200);
	second_hit(-8);
	first_shared(1);
	second_shared(2);
}

static void switch_in_turn(void)
{
	struct counter *hit, *shared;

	for (int i = 0; i < 20; i++) {
		hit = new_counter();
		shared = new_counter();
		hit_all();
		must(register_trace_keys_hit(on_hit, hit) == 0);
		must(trace_keys_hit_enabled() && !trace_keys_shared_enabled());
		hit_all();
		must(hit->hits == 2 && shared->hits == 0);
		must(register_trace_keys_shared(on_shared, shared) == 0);
		hit_all();
		must(hit->hits == 4 && shared->hits == 2);
		must(unregister_trace_keys_hit(on_hit, hit) == 0);
		must(!trace_keys_hit_enabled() && trace_keys_shared_enabled());
		hit_all();
		must(unregister_trace_keys_shared(on_shared, shared) == 0);
		hit_all();
		must(done_with(hit) == 4 && done_with(shared) == 4);
	}
}

static bool stop;

static void *first(void *hits)
{
	*(unsigned long *)hits = first_loop(&stop);
	return NULL;
}

static void *second(void *hits)
{
	*(unsigned long *)hits = second_loop(&stop);
	return NULL;
}

/* Until the threads that run over the sites have called the probe so many times more. */
static void wait_for(struct counter *counter, unsigned long more)
{
	unsigned long hits = __atomic_load_n(&counter->hits, __ATOMIC_RELAXED) + more;
	time_t end = time(NULL) + NOT_IN_TIME;

	while (__atomic_load_n(&counter->hits, __ATOMIC_RELAXED) < hits) {
		must(time(NULL) < end);
		sched_yield();
	}
}

static void storm(void)
{
	void *(*const loops[])(void *) = {first, second};
	unsigned long hits[2];
	pthread_t threads[2];

	/* Each of the loops alone must see its site switched, then both. */
	for (int who = 0; who < 3; who++) {
		stop = false;
		for (int i = 0; i < 2; i++) {
			if (who == 2 || who == i)
				must(pthread_create(&threads[i], NULL, loops[i], &hits[i]) == 0);
		}
		for (int round = 0; round < ROUNDS; round++) {
			struct counter *counter = new_counter();
			must(register_trace_keys_shared(on_shared, counter) == 0);
			wait_for(counter, round % 4 ? 1 : 1000);
			must(unregister_trace_keys_shared(on_shared, counter) == 0);
			done_with(counter);
		}
		__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
		for (int i = 0; i < 2; i++) {
			/* Of two, one may come too late, if the machine has much to do. */
			if (who == 2 || who == i)
				must(pthread_join(threads[i], NULL) == 0 && (who == 2 || hits[i] > 0));
		}
	}
}

static void module(void)
{
	struct counter *own = new_counter(), *shared = new_counter();
	pthread_t thread;
	unsigned long hits;

	must(pthread_create(&thread, NULL, first, &hits) == 0);
	for (unsigned long i = 0; i < 20; i++) {
		void *handle;
		void (*hit)(int n);

		/* Half of the times the probe waits for the module; and then it is still on when that goes. */
		if (i % 2)
			must(register_trace_module_hit(on_module, own) == 0);
		handle = dlopen("./module.so", RTLD_NOW | RTLD_LOCAL);
		if (!handle)
			fprintf(stderr, "keys: %s\n", dlerror());
		must(handle);
		*(void **)&hit = dlsym(handle, "module_hit");
		must(hit);
		if (i % 2 == 0) {
			hit(-1);
			must(own->hits == i && shared->of_module == i);
			must(register_trace_module_hit(on_module, own) == 0);
		}
		must(register_trace_keys_shared(on_shared, shared) == 0);
		hit(-1);
		must(own->hits == i + 1 && shared->of_module == i + 1);
		wait_for(shared, 1);
		must(unregister_trace_keys_shared(on_shared, shared) == 0);
		if (i % 2 == 0) {
			must(unregister_trace_module_hit(on_module, own) == 0);
			hit(-1);
			must(own->hits == i + 1 && shared->of_module == i + 1);
		}
		dlclose(handle);
		if (i % 2)
			must(unregister_trace_module_hit(on_module, own) == 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	must(pthread_join(thread, NULL) == 0);
	must(done_with(own) == 20);
	done_with(shared);
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "switch") == 0) {
		switch_in_turn();
	} else if (strcmp(what, "storm") == 0) {
		storm();
	} else if (strcmp(what, "module") == 0) {
		module();
	} else if (strcmp(what, "hit") == 0) {
		for (int i = 0; i < 3; i++)
			hit_all();
	} else {
		return 2;
	}
	return 0;
}
