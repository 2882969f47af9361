/* SPDX-License-Identifier: MIT */
/*
 * core/probes.c - a name's probes: copy-on-write arrays that readers walk under
 * RCU, and what becomes of the old ones.
 *
 * Of a published array only functions change: that of a removed element
 * becomes TP_REMOVED, unless no probe is left, and then the array goes. So
 * removing needs no memory. The element's data stays, as a reader may have
 * read the function already. The next copy leaves the element out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/readers.h"
#include "base/text.h"
#include "core/probes.h"
#include "core/site.h"

struct tp_probe_array {
	struct tp_probe_array *next_retired;
	unsigned int nr;   /* elements, removed ones included, the NULL at the end not */
	unsigned int live; /* elements that are not removed */
	struct tracepoint_func funcs[];
};

static struct tp_probe_array *retired;     /* under tp_registry_lock */
static unsigned int nr_removed;         /* elements of all arrays that are TP_REMOVED; under it, too */

struct tp_probe_array *tp_probe_array_new(unsigned int nr)
{
	struct tp_probe_array *array = tp_malloc(sizeof(*array) + (nr + 1) * sizeof(array->funcs[0]));

	if (array)
		*array = (struct tp_probe_array){.nr = nr};
	return array;
}

unsigned int tp_probes_count(const struct tp_name *name)
{
	return name->probes ? name->probes->live : 0;
}

/* ---- Publication ---- */

static void publish_at(struct tracepoint *tp, struct tp_probe_array *array)
{
	bool enabled = array != NULL;
	const int *enable_flag = array && array->nr == 1 ? array->funcs[0].enable_flag : NULL;

	if (!enable_flag)
		tp_enable_flag_set(tp, NULL); /* in front: nobody may find it closed who could see the array */
	if (array) {
		tp->used = true;
		if (__tsan_release)
			__tsan_release(&tp->funcs);
	}
	/*
	 * Barrier (B): pairs with (A) in tp_read_lock(). Who sees the array
	 * sees its elements. enabled and the sites have no order with it: who
	 * sees them first, or finds them on when the last probe has just gone,
	 * finds NULL and calls nothing.
	 */
	__atomic_store_n(&tp->funcs, array ? array->funcs : NULL, __ATOMIC_RELEASE);
	if (enable_flag)
		tp_enable_flag_set(tp, enable_flag);
	if (tp->enabled == enabled)
		return;
	__atomic_store_n(&tp->enabled, enabled, __ATOMIC_RELAXED);
	tp_sites_change(tp);
}

/* Probes come to the tracepoint. Its regfunc may refuse them. */
static int switch_on(struct tracepoint *tp)
{
	int error = tp->regfunc ? tp->regfunc() : 0;

	tp->state = error < 0 ? TP_STATE_FAILED : TP_STATE_ON;
	if (error == -EEXIST || error == -EAGAIN)
		return -ECANCELED; /* here, these mean something else */
	return error < 0 ? error : 0;
}

/* The last probe has gone, or the tracepoint goes. */
static void switch_off(struct tracepoint *tp)
{
	bool on = tp->state == TP_STATE_ON;

	tp->state = TP_STATE_OFF;
	if (!on)
		return;
	publish_at(tp, NULL);
	if (tp->unregfunc)
		tp->unregfunc();
}

/* All of the name or none. */
static int switch_all_on(struct tp_name *name)
{
	for (struct tracepoint *tp = name->tracepoints; tp; tp = tp->next) {
		int error = switch_on(tp);
		if (!error)
			continue;
		for (struct tracepoint *undo = name->tracepoints; undo != tp->next; undo = undo->next)
			switch_off(undo);
		return error;
	}
	return 0;
}

static void publish(struct tp_name *name, struct tp_probe_array *array)
{
	struct tp_probe_array *old = name->probes;

	name->probes = array;
	for (struct tracepoint *tp = name->tracepoints; tp; tp = tp->next) {
		if (!array)
			switch_off(tp);
		else if (tp->state == TP_STATE_ON)
			publish_at(tp, array);
	}
	if (!old)
		return;
	nr_removed -= old->nr - old->live;
	old->next_retired = retired;
	retired = old;
}

/* ---- Adding and removing ---- */

static struct tracepoint_func *find(struct tp_probe_array *array, tp_probe_t func, const void *data)
{
	for (unsigned int i = 0; array && i < array->nr; i++) {
		if (array->funcs[i].func == func && array->funcs[i].data == data)
			return &array->funcs[i];
	}
	return NULL;
}

static void append(struct tp_probe_array *array, struct tracepoint_func element)
{
	if (element.func != TP_REMOVED)
		array->funcs[array->live++] = element;
}

static void finish(struct tp_probe_array *array)
{
	array->nr = array->live;
	array->funcs[array->nr] = (struct tracepoint_func){.func = NULL};
}

int tp_probes_add(struct tp_name *name, const struct tracepoint_func *probe, struct tp_probe_array **spare)
{
	struct tp_probe_array *old = name->probes;
	struct tp_probe_array *array = *spare;
	unsigned int i = 0;

	if (find(old, probe->func, probe->data))
		return -EEXIST;
	if (!array || array->nr <= tp_probes_count(name))
		return -EAGAIN;
	int error = old ? 0 : switch_all_on(name);
	if (error)
		return error;

	*spare = NULL;
	for (; old && i < old->nr && old->funcs[i].prio >= probe->prio; i++)
		append(array, old->funcs[i]);
	append(array, *probe); /* behind those of the same priority */
	for (; old && i < old->nr; i++)
		append(array, old->funcs[i]);
	finish(array);
	publish(name, array);
	return 0;
}

static void remove_at(struct tp_name *name, struct tracepoint_func *element)
{
	if (name->probes->live == 1) {
		publish(name, NULL);
		return;
	}
	/* Relaxed: who sees it needs nothing that would have to be visible before it. */
	__atomic_store_n(&element->func, TP_REMOVED, __ATOMIC_RELAXED);
	name->probes->live--;
	nr_removed++;
}

int tp_probes_remove(struct tp_name *name, tp_probe_t func, void *data)
{
	struct tracepoint_func *element = find(name->probes, func, data);

	if (!element)
		return -ENOENT;
	remove_at(name, element);
	return 0;
}

void tp_probes_remove_if(struct tp_name *name, bool (*condition)(tp_probe_t func, const void *data),
			 const void *data)
{
	struct tp_probe_array *array = name->probes;

	for (unsigned int i = 0; array && i < array->nr; i++) {
		struct tracepoint_func *element = &array->funcs[i];
		if (element->func != TP_REMOVED && condition(element->func, data)) {
			remove_at(name, element);
			array = name->probes; /* NULL now, perhaps: then that was the last */
		}
	}
}

/*
 * By one store, as the data is the same: a hit finds the one function or the
 * other, never both or neither. Barrier (E): pairs with (A) in tp_probe_func();
 * who calls the function sees what its module has set up.
 */
int tp_probes_replace(struct tp_name *name, tp_probe_t func, tp_probe_t by, void *data)
{
	struct tracepoint_func *element = find(name->probes, func, data);

	if (!element)
		return -ENOENT;
	__atomic_store_n(&element->func, by, __ATOMIC_RELEASE);
	return 0;
}

/* By a copy, as a reader takes function and data of one element one after the other. */
int tp_probes_exchange(struct tp_name *name, tp_probe_t func, void *data, const struct tracepoint_func *by,
		       struct tp_probe_array **spare)
{
	struct tp_probe_array *old = name->probes;
	struct tp_probe_array *array = *spare;
	const struct tracepoint_func *element = find(old, func, data);

	if (!element)
		return -ENOENT;
	if (find(old, by->func, by->data))
		return -EEXIST;
	if (!array || array->nr < old->live)
		return -EAGAIN;
	*spare = NULL;
	for (unsigned int i = 0; i < old->nr; i++)
		append(array, &old->funcs[i] == element ? *by : old->funcs[i]);
	finish(array);
	publish(name, array);
	return 0;
}

bool tp_probes_any_removed(void)
{
	return nr_removed != 0;
}

int tp_probes_compact(struct tp_name *name, struct tp_probe_array **spare)
{
	struct tp_probe_array *old = name->probes;
	struct tp_probe_array *array = *spare;

	if (!old || old->live == old->nr)
		return 0;
	if (!array || array->nr < old->live)
		return -EAGAIN;
	*spare = NULL;
	for (unsigned int i = 0; i < old->nr; i++)
		append(array, old->funcs[i]);
	finish(array);
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

int tp_probes_link(struct tp_name *name, struct tracepoint *tp)
{
	struct tracepoint **at = &name->tracepoints;

	while (*at)
		at = &(*at)->next;
	tp->next = NULL;
	*at = tp;
	tp->state = TP_STATE_OFF;
	if (!name->probes || tp_tracing_lost_in_fork())
		return 0;
	int error = switch_on(tp);
	if (!error)
		publish_at(tp, name->probes);
	return error;
}

void tp_probes_unlink(struct tp_name *name, struct tracepoint *tp)
{
	struct tracepoint **at = &name->tracepoints;

	while (*at != tp)
		at = &(*at)->next;
	*at = tp->next;
	switch_off(tp);
}

void tp_probes_abandon(struct tp_name *name)
{
	for (struct tracepoint *tp = name->tracepoints; tp; tp = tp->next) {
		if (tp->state == TP_STATE_ON)
			publish_at(tp, NULL);
	}
}

void tp_probes_fail(struct tracepoint *tp)
{
	switch_off(tp);
	tp->state = TP_STATE_FAILED;
}

/* ---- Grace periods ---- */

bool tp_probes_any_retired(void)
{
	return retired != NULL;
}

struct tp_probe_array *tp_probes_take_retired(void)
{
	struct tp_probe_array *list = retired;

	retired = NULL;
	return list;
}

void tp_probes_free(struct tp_probe_array *list)
{
	while (list) {
		struct tp_probe_array *array = list;
		list = array->next_retired;
		free(array);
	}
}
