/* SPDX-License-Identifier: MIT */
/*
 * points.c - the tracepoints as a table, and listeners: probes that check
 * that they are called for what they were registered for, and not too late.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "torture.h"

#define CREATE_TRACE_POINTS
#include "points.h"
#undef CREATE_TRACE_POINTS
#include "visitor.h"

#define MAGIC 0x70726f62u
#define POISON 0xdd

__thread unsigned int in_probe;

/* ---- The table ---- */

typedef void probe_fn(void *data, unsigned long a, unsigned long b, unsigned long check);

struct point_ops {
	const char *name;
	struct tracepoint *tracepoint; /* NULL: it is a module's */
	int (*add)(probe_fn *func, void *data, int prio);
	int (*remove)(probe_fn *func, void *data);
	void (*hit)(unsigned long a, unsigned long b, unsigned long check);
	bool (*enabled)(void);
};

#define REGISTER(name)                                               \
	static int add_##name(probe_fn *func, void *data, int prio)  \
	{                                                            \
		return register_trace_prio_##name(func, data, prio); \
	}                                                            \
	static int remove_##name(probe_fn *func, void *data)         \
	{                                                            \
		return unregister_trace_##name(func, data);          \
	}

#define SITES(name)                                                                \
	static void hit_##name(unsigned long a, unsigned long b, unsigned long check) \
	{                                                                          \
		trace_##name(a, b, check);                                         \
	}                                                                          \
	static bool enabled_##name(void)                                           \
	{                                                                          \
		return trace_##name##_enabled();                                   \
	}

OWN_POINTS(REGISTER)
VISITOR_POINTS(REGISTER)
OWN_POINTS(SITES)

static const struct point_ops points[] = {
#define X(tp) [POINT_##tp] = {#tp, &__tracepoint_##tp, add_##tp, remove_##tp, hit_##tp, enabled_##tp},
	OWN_POINTS(X)
#undef X
#define X(tp) [POINT_##tp] = {.name = #tp, .add = add_##tp, .remove = remove_##tp},
	VISITOR_POINTS(X)
#undef X
};

void hit(enum point point, unsigned long a, unsigned long b)
{
	unsigned long check = checksum(point, a, b);

	count(COUNT_hits);
	if (rnd(2))
		points[point].hit(a, b, check);
	else
		hit_from_cxx(point, a, b, check);
}

void hit_any(enum hit kind)
{
	hit((enum point)rnd(NR_OWN_POINTS), argument(kind, rnd(~0ul)), rnd(~0ul));
}

bool is_enabled(enum point point)
{
	return points[point].enabled();
}

/* ---- torture_fn's callbacks, under the registry's lock ---- */

static bool fn_is_on;

int torture_reg(void)
{
	CHECK(!fn_is_on, "regfunc was called while it was on");
	if (rnd(4) == 0)
		return -EBUSY;
	fn_is_on = true;
	return 0;
}

void torture_unreg(void)
{
	CHECK(fn_is_on, "unregfunc was called while it was off");
	fn_is_on = false;
}

/* ---- What listeners do ---- */

/* What a thread has registered inside probes, to be removed by the same, somewhere inside a probe. */
static __thread struct listener *meddled;

/* The runtime says each refusal on stderr: not too many. */
static void expect_deadlock(void)
{
	static unsigned int refused;

	if (__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED) >= 20)
		return;
	int error = tracepoint_synchronize_unregister();
	CHECK(error == -EDEADLK, "synchronize inside a probe returned %d", error);
	count(COUNT_deadlk);
}

/* A hit inside a probe finds what was registered inside it, and not what was removed inside it. */
static void expect_own(struct listener *listener, unsigned long expected, const char *when)
{
	hit(listener->point, listener->token, 1);
	CHECK(listener->own == expected, "inside a probe, one that %s was called %lu times of %lu", when, listener->own,
	      expected);
}

static void meddle(enum point point)
{
	struct listener *listener = meddled;

	if (rnd(16) == 0)
		expect_deadlock();
	if (!listener) {
		if (point >= NR_OWN_POINTS || rnd(2))
			point = (enum point)rnd(NR_OWN_POINTS);
		listener = listener_new(point, LISTEN, new_token());
		int error = listener_add(listener);
		if (error) {
			CHECK(error == -EBUSY && point == POINT_torture_fn, "register inside a probe: %d", error);
			listener_bury(listener); /* nobody has seen it */
			return;
		}
		count(COUNT_inside);
		meddled = listener;
		expect_own(listener, 1, "is registered");
	} else {
		meddled = NULL;
		int error = listener_remove(listener);
		CHECK(error == 0, "unregister inside a probe: %d", error);
		expect_own(listener, 1, "is removed");
		listener_leave(listener);
	}
}

void meddler_end(void)
{
	if (!meddled)
		return;
	CHECK(listener_remove(meddled) == 0, "unregister at the end of a thread");
	listener_leave(meddled);
	meddled = NULL;
}

/* What takes locks or allocates is not for signal handlers, nor for a malloc that the runtime itself calls. */
static bool may_meddle(void)
{
	return !in_signal && !in_malloc && in_probe == 1 && me->running && !may_be_dark && !stopping() &&
	       (!in_child || opt_child_allocates);
}

bool begin_removal(struct listener *listener)
{
	enum removal not_yet = NOT_YET;

	return __atomic_compare_exchange_n(&listener->removal, &not_yet, BEGUN, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* In a probe: others go on, and take away what they can. */
void dawdle(void)
{
	if (!in_malloc && !in_signal && rnd(256) == 0)
		nap(50);
}

static void act(struct listener *listener, unsigned long a)
{
	switch (listener->kind) {
	case NEST:
		if (in_probe < 3 && rnd(4) == 0) {
			count(COUNT_nested);
			hit_any(NESTED_HIT);
		}
		break;
	case MEDDLE:
		if (may_meddle() && rnd(8) == 0)
			meddle(listener->point);
		break;
	case LEAVE:
		if (may_meddle() && begin_removal(listener)) {
			int error = listener_remove(listener);
			CHECK(error == 0, "a probe that unregisters itself: %d", error);
			count(COUNT_left);
			__atomic_store_n(&listener->removal, DONE, __ATOMIC_RELEASE);
		}
		break;
	case FORK:
		if (a == listener->token)
			fork_inside(listener);
		break;
	default:
		break;
	}
}

static void heard(unsigned int func, struct listener *listener, unsigned long a, unsigned long b, unsigned long check)
{
	unsigned int magic = __atomic_load_n(&listener->magic, __ATOMIC_RELAXED);

	CHECK(magic == MAGIC, "a probe was called after it was removed, or with what was never its data: magic %x", magic);
	CHECK(listener->func == func, "probe function %u was called with the data of %u", func, listener->func);
	CHECK(check == checksum(listener->point, a, b), "a probe of %s got wrong arguments: %lx %lx %lx",
	      points[listener->point].name, a, b, check);
	CHECK(passes(listener->point, b), "a probe of %s was called though the condition is false",
	      points[listener->point].name);
	in_probe++;
	count(COUNT_calls);
	if (a == listener->token) {
		listener->own++;
		if (listener->order)
			listener->place = (*listener->order)++;
	}
	dawdle();
	act(listener, a);
	in_probe--;
}

/* ---- The probe functions: several, so that a function with another's data shows ---- */

#define PROBE(n)                                                                                   \
	static void probe_##n(void *data, unsigned long a, unsigned long b, unsigned long check) \
	{                                                                                          \
		heard(n, data, a, b, check);                                                       \
	}

PROBE(0)
PROBE(1)
PROBE(2)

#define RECURSION_LIMIT 3
#define RECURSIVE 3

/* Hits its own tracepoint as long as it is let. */
static void recursive(void *data, unsigned long a, unsigned long b, unsigned long check)
{
	static __thread unsigned int depth;

	TP_LIMIT_RECURSION(RECURSION_LIMIT);
	CHECK(depth < RECURSION_LIMIT, "TP_LIMIT_RECURSION(%d) let a probe in for the %uth time", RECURSION_LIMIT,
	      depth + 1);
	depth++;
	heard(RECURSIVE, data, a, b, check);
	if (depth > 1)
		count(COUNT_recursed);
	if (in_probe < 3 && rnd(2))
		hit(((struct listener *)data)->point < NR_OWN_POINTS ? ((struct listener *)data)->point : POINT_torture_bare,
		    argument(NESTED_HIT, a), b);
	depth--;
}

static probe_fn *const functions[] = {probe_0, probe_1, probe_2, [RECURSIVE] = recursive};

/* ---- Their life ---- */

struct listener *listener_new(enum point point, enum listener_kind kind, unsigned long token)
{
	struct listener *listener = malloc(sizeof(*listener));

	if (!listener)
		die("out of memory");
	*listener = (struct listener){.magic = MAGIC,
				      .point = point,
				      .kind = kind,
				      .prio = (int)rnd(4) * 5,
				      .func = kind == RECURSE ? RECURSIVE : (unsigned int)rnd(RECURSIVE),
				      .token = token};
	return listener;
}

int listener_add(struct listener *listener)
{
	const struct point_ops *point = &points[listener->point];
	probe_fn *func = functions[listener->func];
	int error;

	switch (point->tracepoint ? rnd(3) : 0) {
	case 0:
		error = point->add(func, listener, listener->prio);
		break;
	case 1:
		error = tracepoint_probe_register_prio(point->tracepoint, (tp_probe_t)func, listener, listener->prio);
		break;
	default:
		error = tp_probe_register(point->name, "unsigned long, unsigned long, unsigned long", (tp_probe_t)func, listener,
					  listener->prio);
		break;
	}
	if (!error)
		count(COUNT_registered);
	return error;
}

int listener_remove(struct listener *listener)
{
	const struct point_ops *point = &points[listener->point];
	probe_fn *func = functions[listener->func];

	switch (point->tracepoint ? rnd(3) : 0) {
	case 0:
		return point->remove(func, listener);
	case 1:
		return tracepoint_probe_unregister(point->tracepoint, (tp_probe_t)func, listener);
	default:
		return tp_probe_unregister(point->name, (tp_probe_t)func, listener);
	}
}

/*
 * What was poisoned is kept for a while, as malloc would hand it out as the
 * next listener's, in which a late call would find all as it should be; and
 * looked at when it goes. A sanitizer keeps it and looks better.
 */
#define NR_GRAVES 256

static void expect_poison(const struct listener *listener)
{
	const unsigned char *bytes = (const unsigned char *)listener;

	for (size_t i = 0; i < sizeof(*listener); i++)
		CHECK(bytes[i] == POISON, "somebody has written to a removed probe's data, at %zu: %x", i, bytes[i]);
	free((void *)(uintptr_t)listener);
}

static pthread_mutex_t graves_lock = PTHREAD_MUTEX_INITIALIZER;
static struct listener *graves[NR_GRAVES];

void listener_bury(struct listener *listener)
{
	static unsigned int next;

	memset(listener, POISON, sizeof(*listener));
	__asm__ volatile("" : : "r"(listener) : "memory"); /* the compiler knows that free() reads nothing */
	count(COUNT_removed);
	if (UNDER_SANITIZER || in_child) { /* of which other threads had the lock */
		free(listener);
		return;
	}
	pthread_mutex_lock(&graves_lock);
	struct listener *old = graves[next];
	graves[next] = listener;
	next = (next + 1) % NR_GRAVES;
	pthread_mutex_unlock(&graves_lock);
	if (old)
		expect_poison(old);
}

static struct listener *left;

void listener_leave(struct listener *listener)
{
	listener->next = __atomic_load_n(&left, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&left, &listener->next, listener, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

void synchronize(void)
{
	struct listener *list = __atomic_exchange_n(&left, NULL, __ATOMIC_ACQUIRE);

	at("synchronize");
	int error = tracepoint_synchronize_unregister();
	CHECK(error == 0 || may_be_dark, "synchronize returned %d", error);
	at("burying");
	while (list) {
		struct listener *listener = list;
		list = listener->next;
		listener_bury(listener);
	}
}

void bury_all(void)
{
	synchronize();
	for (unsigned int i = 0; i < NR_GRAVES; i++) {
		if (graves[i])
			expect_poison(graves[i]);
	}
}
