/* SPDX-License-Identifier: MIT */
/*
 * probes.c - a name's probes: copy-on-write arrays that readers walk under
 * RCU, and what becomes of the old ones.
 *
 * A published array never changes but in one way: where there is no memory
 * for a copy, the function of a removed element is overwritten by the
 * tracepoint's stub. The element's data stays, as a reader may have read the
 * function already; the next copy leaves the element out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <urcu/static/urcu-bp.h> /* for urcu_bp_gp */
#include <urcu/urcu-bp.h>

#include "internal.h"

struct probe_array {
	struct probe_array *next_retired;
	unsigned int nr;   /* elements, removed ones included, the NULL at the end not */
	unsigned int live; /* elements that are not removed */
	struct tracepoint_func funcs[];
	/* behind the NULL at the end: bool removed[nr] */
};

static struct probe_array *retired; /* under tp_registry_lock */

static bool *removed_of(struct probe_array *array)
{
	return (bool *)&array->funcs[array->nr + 1];
}

static struct probe_array *array_new(unsigned int nr)
{
	struct probe_array *array =
		tp_malloc(sizeof(*array) + (nr + 1) * sizeof(array->funcs[0]) + nr * sizeof(bool));

	if (!array)
		return NULL;
	array->nr = nr;
	array->live = nr;
	array->funcs[nr] = (struct tracepoint_func){.func = NULL};
	memset(removed_of(array), 0, nr * sizeof(bool));
	return array;
}

/* ---- Publication ---- */

static void site_publish(struct site *site, struct probe_array *array)
{
	struct tracepoint *tp = site->tp;

	if (array) {
		site->used = true;
		if (__tsan_release)
			__tsan_release(&tp->funcs);
		/*
		 * Barrier (B): pairs with (A) in tp_read_lock(). Who sees the
		 * array sees its elements. In front of enabled, so that the
		 * first call already finds it; where it does not (the two are
		 * read without order), it finds NULL and calls nothing.
		 */
		__atomic_store_n(&tp->funcs, array->funcs, __ATOMIC_RELEASE);
		__atomic_store_n(&tp->enabled, 1, __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(&tp->enabled, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&tp->funcs, NULL, __ATOMIC_RELEASE);
	}
}

static void retire(struct probe_array *array)
{
	array->next_retired = retired;
	retired = array;
}

static void publish(struct tp_name *name, struct probe_array *array)
{
	struct probe_array *old = name->probes;

	name->probes = array;
	for (struct site *site = name->sites; site; site = site->next)
		site_publish(site, array);
	if (old)
		retire(old);
}

/* ---- Adding and removing ---- */

/* The element's position, or nr where there is none. */
static unsigned int find(struct probe_array *array, tp_probe_t func, const void *data)
{
	unsigned int i = 0;

	while (i < array->nr &&
	       (removed_of(array)[i] || array->funcs[i].func != func || array->funcs[i].data != data))
		i++;
	return i;
}

/* Appends those of [from, to) that are not removed; returns the new end. */
static unsigned int copy(struct tracepoint_func *end, struct probe_array *array, unsigned int from, unsigned int to)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < to; i++) {
		if (!removed_of(array)[i])
			end[n++] = array->funcs[i];
	}
	return n;
}

int tp_probes_add(struct tp_name *name, tp_probe_t func, void *data, int prio)
{
	struct probe_array *old = name->probes;
	unsigned int at = 0;

	if (old && find(old, func, data) < old->nr)
		return -EEXIST;
	struct probe_array *array = array_new((old ? old->live : 0) + 1);
	if (!array)
		return -ENOMEM;

	/* Behind those of the same priority. */
	while (old && at < old->nr && old->funcs[at].prio >= prio)
		at++;
	unsigned int n = old ? copy(array->funcs, old, 0, at) : 0;
	array->funcs[n++] = (struct tracepoint_func){.func = func, .data = data, .prio = prio};
	if (old)
		copy(array->funcs + n, old, at, old->nr);
	publish(name, array);
	return 0;
}

static void element_become_stub(struct tp_name *name, struct probe_array *array, unsigned int i)
{
	removed_of(array)[i] = true;
	array->live--;
	/* Relaxed: the stub needs nothing that would have to be visible before it. */
	__atomic_store_n(&array->funcs[i].func, name->stub, __ATOMIC_RELAXED);
}

/* For an array that no reader can be in. */
static void element_shift_out(struct probe_array *array, unsigned int i)
{
	/* The flags stand behind the elements: their place follows nr, so they move first. */
	bool *from = removed_of(array);

	memmove(from + i, from + i + 1, (array->nr - i - 1) * sizeof(bool));
	memmove(&array->funcs[i], &array->funcs[i + 1], (array->nr - i) * sizeof(array->funcs[0]));
	array->nr--;
	memmove(removed_of(array), from, array->nr * sizeof(bool));
}

int tp_probes_remove(struct tp_name *name, tp_probe_t func, void *data)
{
	struct probe_array *old = name->probes;
	unsigned int at = old ? find(old, func, data) : 0;

	if (!old || at == old->nr)
		return -ENOENT;
	if (old->live == 1) {
		publish(name, NULL);
		return 0;
	}
	if (!name->sites && !name->leaving) {
		element_shift_out(old, at);
		old->live--;
		return 0;
	}
	struct probe_array *array = array_new(old->live - 1);
	if (!array) {
		element_become_stub(name, old, at);
		return 0;
	}
	unsigned int n = copy(array->funcs, old, 0, at);
	copy(array->funcs + n, old, at + 1, old->nr);
	publish(name, array);
	return 0;
}

/* By one publication: a hit finds the one function or the other, never both or neither. */
int tp_probes_replace(struct tp_name *name, tp_probe_t func, tp_probe_t by, void *data)
{
	struct probe_array *old = name->probes;
	unsigned int at = old ? find(old, func, data) : 0;

	if (!old || at == old->nr)
		return -ENOENT;
	struct probe_array *array = array_new(old->live);
	if (!array)
		return -ENOMEM;
	unsigned int n = copy(array->funcs, old, 0, at);
	array->funcs[n++] = (struct tracepoint_func){.func = by, .data = data, .prio = old->funcs[at].prio};
	copy(array->funcs + n, old, at + 1, old->nr);
	publish(name, array);
	return 0;
}

tp_probe_t tp_probes_first(const struct tp_name *name)
{
	return name->probes ? name->probes->funcs[0].func : NULL;
}

/* ---- Modules that come and go ---- */

static void use_stub(struct tp_name *name, tp_probe_t stub)
{
	struct probe_array *array = name->probes;

	name->stub = stub;
	for (unsigned int i = 0; array && i < array->nr; i++) {
		if (removed_of(array)[i])
			__atomic_store_n(&array->funcs[i].func, stub, __ATOMIC_RELAXED);
	}
}

void tp_probes_link(struct tp_name *name, struct site *site)
{
	struct site **at = &name->sites;

	if (!name->sites)
		use_stub(name, site->tp->stub); /* the one there is may be of a module that is gone */
	while (*at)
		at = &(*at)->next;
	*at = site;
	site_publish(site, name->probes);
}

void tp_probes_unlink(struct tp_name *name, struct site *site)
{
	struct site **at = &name->sites;

	while (*at != site)
		at = &(*at)->next;
	*at = site->next;
	site_publish(site, NULL);
	/*
	 * Where it was the last, its stub is kept: the module waits for its
	 * readers before it goes, and nobody else can reach the array.
	 */
	if (name->sites && name->stub == site->tp->stub)
		use_stub(name, name->sites->tp->stub);
}

/* A module's readers are gone. Where no other can have any, its stubs must go too. */
void tp_probes_settle(struct tp_name *name)
{
	struct probe_array *array = name->probes;

	if (!array || name->sites || name->leaving)
		return;
	for (unsigned int i = array->nr; i-- > 0;) {
		if (removed_of(array)[i])
			element_shift_out(array, i);
	}
}

/* ---- Grace periods ---- */

bool tp_wait_for_readers(void)
{
	int cancel_state;

	if (urcu_bp_read_ongoing())
		return false;
	/* liburcu waits in cancellation points, with its lock held. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	urcu_bp_synchronize_rcu();
	if (__tsan_acquire)
		__tsan_acquire(&urcu_bp_gp); /* what tp_read_unlock() released */
	pthread_setcancelstate(cancel_state, NULL);
	return true;
}

static struct probe_array *take_retired(void)
{
	tp_lock(&tp_registry_lock);
	struct probe_array *list = retired;
	retired = NULL;
	tp_unlock(&tp_registry_lock);
	return list;
}

void tracepoint_synchronize_unregister(void)
{
	if (urcu_bp_read_ongoing()) {
		tp_complain("tracepoint_synchronize_unregister() was called from inside a probe, which would wait for "
			    "itself for ever: it did nothing; call it after the probe has returned");
		return;
	}
	struct probe_array *list = take_retired();
	tp_wait_for_readers();
	while (list) {
		struct probe_array *array = list;
		list = array->next_retired;
		free(array);
	}
}

void tp_probes_free_retired(void)
{
	tp_lock(&tp_registry_lock);
	bool any = retired != NULL;
	tp_unlock(&tp_registry_lock);
	if (any && !urcu_bp_read_ongoing())
		tracepoint_synchronize_unregister();
}
