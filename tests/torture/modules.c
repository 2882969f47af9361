/* SPDX-License-Identifier: MIT */
/* modules.c - loads and unloads modules: with sites (visitor.c), with probes (guest.c). */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torture.h"
#include "modules.h"

/* Read by the guest's constructor. */
static __thread bool by_constructor;

bool torture_guest_begins_by_itself(void)
{
	return by_constructor;
}

/*
 * What the loader's lock is for others: ThreadSanitizer does not see that one,
 * and takes a module for the one that was at its address before.
 */
static pthread_mutex_t loader_lock = PTHREAD_MUTEX_INITIALIZER;

static void loader_enter(void)
{
	if (UNDER_THREAD_SANITIZER)
		pthread_mutex_lock(&loader_lock);
}

static void loader_leave(void)
{
	if (UNDER_THREAD_SANITIZER)
		pthread_mutex_unlock(&loader_lock);
}

static void *load(const char *path)
{
	at("dlopen");
	loader_enter();
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	loader_leave();
	CHECK(handle, "%s", dlerror());
	at("loaded");
	return handle;
}

static void unload(void *handle)
{
	at("dlclose");
	loader_enter();
	int error = dlclose(handle);
	loader_leave();
	CHECK(error == 0, "%s", dlerror());
	at("unloaded");
}

static void (*look_up(void *handle, const char *name))(void)
{
	void (*function)(void);

	/* ISO C has no conversion from an object's address to a function's; POSIX has this one, for dlsym(). */
	*(void **)&function = dlsym(handle, name);
	CHECK(function, "%s", dlerror());
	return function;
}

#define LOOK_UP(handle, function) ((__typeof__(&function))look_up(handle, #function))

/* ---- Modules with sites ---- */

static struct listener *listen_to_visitors(enum point point)
{
	struct listener *listener = listener_new(point, LISTEN, new_token());
	int error = listener_add(listener);

	CHECK(error == 0, "register on %s: %s", point == POINT_visitor_cond ? "visitor_cond" : "visitor_plain",
	      strerror(-error));
	return listener;
}

/* Two files with the same tracepoints, each shared by all who load it. */
void visitor(void)
{
	enum point point = rnd(2) ? POINT_visitor_plain : POINT_visitor_cond;
	struct listener *listener = rnd(2) ? listen_to_visitors(point) : NULL;
	bool waits = listener != NULL;
	const char *path = rnd(2) ? "./visitor-a.so" : "./visitor-b.so";
	void *handle = load(path);
	__typeof__(&visitor_hit) hit_module = LOOK_UP(handle, visitor_hit);

	if (!listener)
		listener = listen_to_visitors(point);
	unsigned long expected = 0;
	for (unsigned long i = rnd(100); i; i--) {
		unsigned long b = rnd(~0ul);
		expected += passes(point, b);
		hit_module(point, listener->token, b);
		count(COUNT_hits);
		CHECK(listener->own == expected, "hits of %s called a probe that was registered %s %lu times of %lu", path,
		      waits ? "before it was loaded" : "after", listener->own, expected);
	}
	bool first = rnd(2);
	if (first)
		unload(handle);
	CHECK(listener_remove(listener) == 0, "unregister from a module's tracepoint");
	if (!first)
		unload(handle);
	synchronize();
	listener_bury(listener);
	count(COUNT_visits);
}

/* ---- Modules with probes ---- */

/* A file of each thread's own, so that it is really unloaded. */
void guest(void)
{
	char path[40];

	snprintf(path, sizeof(path), "./guest-%u.so", me->index);
	by_constructor = rnd(2);
	void *handle = load(path);
	if (!by_constructor) {
		at("a module's register");
		int error = LOOK_UP(handle, guest_begin)();
		CHECK(error == 0, "a module's register: %s", strerror(-error));
	}
	__typeof__(&guest_own) own = LOOK_UP(handle, guest_own);
	unsigned long token = new_token();
	LOOK_UP(handle, guest_listen_for)(token);
	at("hitting a module's probes");
	for (unsigned long i = 1; i <= 10; i++) {
		hit(rnd(2) ? POINT_torture_plain : POINT_torture_bare, token, i);
		CHECK(own() == i, "a module's probe was called %lu times of %lu", own(), i);
	}
	if (opt_forget && rnd(2)) {
		LOOK_UP(handle, guest_forget)();
		count(COUNT_forgotten);
	} else if (!by_constructor) {
		at("a module's unregister");
		int error = LOOK_UP(handle, guest_end)();
		CHECK(error == 0, "a module's unregister: %s", strerror(-error));
	}
	unload(handle);
	at("hitting after a module's probes have gone");
	for (int i = 0; i < 20; i++)
		hit_any(PLAIN_HIT);
	count(COUNT_guests);
}
