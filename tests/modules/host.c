/* SPDX-License-Identifier: MIT */
/*
 * Loads and unloads modules that carry the same event, while threads hit it
 * and others register and remove probes whose data is freed:
 *
 *	host one    loads ./a.so twice, and hits it each time
 *	host twins  loads ./a.so and ./b.so, in and out of order
 *	host storm  all of it at once, for some thousand rounds
 *
 * Prints the number of hits that went through the tracepoint.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "mod.h"

static void fail(const char *what)
{
	const char *why = dlerror();

	fprintf(stderr, "host: %s: %s\n", what, why ? why : "?");
	exit(1);
}

struct module {
	void *handle;
	void (*hit)(int n);
};

static struct module load(const char *path)
{
	struct module module = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};

	if (!module.handle)
		fail(path);
	*(void **)&module.hit = dlsym(module.handle, "hit");
	return module;
}

static unsigned long hits;

/* A probe's data: poisoned before it is freed, so that a late call shows. */
struct counter {
	unsigned int magic;
};

static void count(void *data, int n)
{
	const struct counter *counter = data;

	(void)n;
	if (__atomic_load_n(&counter->magic, __ATOMIC_RELAXED) != 0xC0DE) {
		fprintf(stderr, "host: a probe was called after it was removed\n");
		abort();
	}
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
}

static struct counter *listen_to(void)
{
	struct counter *counter = malloc(sizeof(*counter));

	if (!counter)
		exit(1);
	counter->magic = 0xC0DE;
	if (register_trace_mod_hit(count, counter) != 0)
		exit(1);
	return counter;
}

static void forget(struct counter *counter)
{
	if (unregister_trace_mod_hit(count, counter) != 0)
		exit(1);
	tracepoint_synchronize_unregister();
	__atomic_store_n(&counter->magic, 0xDEAD, __ATOMIC_RELAXED);
	free(counter);
}

static void one(void)
{
	struct counter *counter = listen_to();

	for (int i = 0; i < 2; i++) {
		struct module a = load("./a.so");
		a.hit(i);
		dlclose(a.handle);
	}
	forget(counter);
}

/* Two definitions of one event: both hit, one record each; the writer moves on when its module goes. */
static void twins(void)
{
	struct counter *counter = listen_to();
	struct module a = load("./a.so");
	struct module b = load("./b.so");

	a.hit(1);
	b.hit(2);
	dlclose(a.handle);
	b.hit(3);
	a = load("./a.so");
	dlclose(b.handle);
	a.hit(4);
	forget(counter);
	a.hit(5);
	dlclose(a.handle);
}

#define ROUNDS 300

static void *come_and_go(void *path)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct module module = load(path);
		for (int n = 0; n < 100; n++)
			module.hit(n);
		dlclose(module.handle);
	}
	return NULL;
}

static void *register_and_remove(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++)
		forget(listen_to());
	return NULL;
}

static void storm(void)
{
	static char a[] = "./a.so", b[] = "./b.so";
	pthread_t threads[6];

	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, i < 4 ? come_and_go : register_and_remove, i % 2 ? a : b);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "one") == 0)
		one();
	else if (argc == 2 && strcmp(argv[1], "twins") == 0)
		twins();
	else if (argc == 2 && strcmp(argv[1], "storm") == 0)
		storm();
	else
		return 2;
	printf("%lu\n", hits);
	return 0;
}
