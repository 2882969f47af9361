/* SPDX-License-Identifier: MIT */
/*
 * probes.c - a name's probes: copy-on-write arrays that readers walk under
 * RCU, and what becomes of the old ones.
 *
 * A published array never changes but in one way: where there is no memory
 * for a copy, the function of a removed element becomes TP_REMOVED. The
 * element's data stays, as a reader may have read the function already; the
 * next copy leaves the element out.
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
};

static struct probe_array *retired; /* under tp_registry_lock */

static struct probe_array *array_new(unsigned int nr)
{
	struct probe_array *array = tp_malloc(sizeof(*array) + (nr + 1) * sizeof(array->funcs[0]));

	if (!array)
		return NULL;
	array->nr = nr;
	array->live = nr;
	array->funcs[nr] = (struct tracepoint_func){.func = NULL};
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

/* Probes come to the site. Its regfunc may refuse them. */
static int site_switch_on(struct site *site)
{
	int error = site->tp->regfunc ? site->tp->regfunc() : 0;

	site->on = error >= 0;
	return site->on ? 0 : error;
}

/* The last probe has gone, or the site goes. */
static void site_switch_off(struct site *site)
{
	if (!site->on)
		return;
	site->on = false;
	site_publish(site, NULL);
	if (site->tp->unregfunc)
		site->tp->unregfunc();
}

/* All sites or none. */
static int switch_on(struct tp_name *name)
{
	for (struct site *site = name->sites; site; site = site->next) {
		int error = site_switch_on(site);
		if (!error)
			continue;
		for (struct site *undo = name->sites; undo != site; undo = undo->next)
			site_switch_off(undo);
		return error;
	}
	return 0;
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
	for (struct site *site = name->sites; site; site = site->next) {
		if (!array)
			site_switch_off(site);
		else if (site->on)
			site_publish(site, array);
	}
	if (old)
		retire(old);
}

/* ---- Adding and removing ---- */

/* The element's position, or nr where there is none. */
static unsigned int find(struct probe_array *array, tp_probe_t func, const void *data)
{
	unsigned int i = 0;

	while (i < array->nr && (array->funcs[i].func != func || array->funcs[i].data != data))
		i++;
	return i;
}

/* Appends those of [from, to) that are not removed; returns the new end. */
static unsigned int copy(struct tracepoint_func *end, struct probe_array *array, unsigned int from, unsigned int to)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < to; i++) {
		if (array->funcs[i].func != TP_REMOVED)
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
	int error = old ? 0 : switch_on(name);
	if (error) {
		free(array);
		return error;
	}

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
	struct probe_array *array = array_new(old->live - 1);
	if (!array) {
		/* Relaxed: who sees it needs nothing that would have to be visible before it. */
		__atomic_store_n(&old->funcs[at].func, TP_REMOVED, __ATOMIC_RELAXED);
		old->live--;
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
	const struct tracepoint_func *at = name->probes ? name->probes->funcs : NULL;

	while (at && at->func == TP_REMOVED)
		at++;
	return at ? at->func : NULL;
}

/* ---- Modules that come and go ---- */

int tp_probes_link(struct tp_name *name, struct site *site)
{
	struct site **at = &name->sites;

	while (*at)
		at = &(*at)->next;
	site->next = NULL;
	*at = site;
	if (!name->probes)
		return 0;
	int error = site_switch_on(site);
	if (!error)
		site_publish(site, name->probes);
	return error;
}

void tp_probes_unlink(struct tp_name *name, struct site *site)
{
	struct site **at = &name->sites;

	while (*at != site)
		at = &(*at)->next;
	*at = site->next;
	site_switch_off(site);
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
