/* SPDX-License-Identifier: MIT */
/*
 * core/registry.c - the names of tracepoints, global to the process: which probes
 * each has, and which loaded modules define it.
 *
 * The prototype is part of a name. Of those that are called alike one is
 * defined at a time; the others have only probes, which wait. A name is there
 * as long as it has a probe or a tracepoint. It copies what it is told, as the
 * module that told it may go before it does.
 *
 * Nothing is allocated or freed with the lock held: in malloc and free, a
 * program may hit a tracepoint whose probe comes here.
 */
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/exit.h"
#include "base/fork.h"
#include "base/hit.h"
#include "base/message.h"
#include "base/process.h"
#include "base/readers.h"
#include "base/text.h"
#include "core/core.h"
#include "core/registry.h"
#include "core/site.h"


#define NAME_BUCKETS 1024

static struct tp_name *names[NAME_BUCKETS];

static struct tp_name **bucket_of(uint32_t hash)
{
	return &names[hash % NAME_BUCKETS];
}

static bool has_text(const struct tp_name *name, const struct tp_key *key)
{
	return name->hash == key->hash && strcmp(name->name, key->text) == 0;
}

struct tp_found tp_name_find(const struct tp_key *key)
{
	struct tp_found found = {.name = NULL};

	for (struct tp_name *name = *bucket_of(key->hash); name; name = name->next) {
		if (!has_text(name, key))
			continue;
		if (strcmp(name->proto, key->proto) == 0)
			found.name = name;
		else if (name->tracepoints)
			found.defined = name;
		else if (tp_probes_count(name))
			found.probed = name;
	}
	return found;
}

/* ---- What is allocated before, and freed after, the lock is held ---- */

struct tp_name *tp_name_new(const struct tp_key *key)
{
	size_t name_size = strlen(key->text) + 1;
	size_t proto_size = strlen(key->proto) + 1;
	struct tp_name *name = tp_malloc(sizeof(*name) + name_size + proto_size);

	if (!name)
		return NULL;
	*name = (struct tp_name){.hash = key->hash};
	memcpy(name->name, key->text, name_size);
	name->proto = memcpy(name->name + name_size, key->proto, proto_size);
	return name;
}

void tp_names_free(struct tp_name *first)
{
	while (first) {
		struct tp_name *name = first;
		first = name->next;
		free(name);
	}
}

struct spare {
	struct tp_name *names; /* by their next */
	struct tp_probe_array *array;
};

static bool spare_array(struct spare *spare, unsigned int nr)
{
	free(spare->array);
	spare->array = tp_probe_array_new(nr);
	return spare->array != NULL;
}

static void spare_free(struct spare *spare)
{
	tp_names_free(spare->names);
	free(spare->array);
}

struct tp_name *tp_name_get(const struct tp_found *found, struct tp_name **fresh)
{
	struct tp_name *name = found->name;

	if (name)
		return name;
	name = *fresh;
	*fresh = NULL;
	struct tp_name **bucket = bucket_of(name->hash);
	name->next = *bucket;
	*bucket = name;
	return name;
}

void tp_name_drop_if_unused(struct tp_name *name, struct tp_name **dropped)
{
	struct tp_name **at = bucket_of(name->hash);

	if (name->tracepoints || name->probes || name->leaving)
		return;
	while (*at != name)
		at = &(*at)->next;
	*at = name->next;
	name->next = *dropped;
	*dropped = name;
}

/* ---- Probes ---- */

static int add(const struct tp_key *key, const struct tracepoint_func *probe, bool now, struct spare *spare,
	       unsigned int *room)
{
	const struct tp_found found = tp_name_find(key);
	if (found.defined) {
		const struct tp_wording *w = tp_wording_of(key->text);
		tp_complain("a probe for %s '%s' is refused: it takes %s%s%s, but the %s has %s%s%s, in just this "
			    "spelling",
			    w->kind, key->text + w->prefix, w->open, key->proto, w->close, w->kind, w->open,
			    found.defined->proto, w->close);
		return -EINVAL;
	}
	struct tp_name *name = tp_name_get(&found, &spare->names);
	*room = tp_probes_count(name) + 1;
	int error = tp_probes_add(name, probe, &spare->array);
	if (!error && now) {
		error = tp_sites_switch();
		if (error) {
			tp_probes_remove(name, probe->func, probe->data);
			tp_sites_switch();
		}
	}
	tp_name_drop_if_unused(name, &spare->names);
	return error;
}

int tp_registry_add(const char *text, const char *proto, const struct tracepoint_func *probe, bool now)
{
	struct spare spare = {.names = NULL};
	unsigned int room = 4; /* enough for most */
	int error, cancel_state;

	if (!text || !proto || !probe->func || probe->func == TP_REMOVED)
		return -EINVAL;
	if (tp_tracing_lost_in_fork())
		return -EDEADLK;
	tp_core_start();
	tp_note_exit();
	const struct tp_key key = tp_key_of(text, proto);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* also where it is asynchronous */
	spare.names = tp_name_new(&key);
	do {
		if (!spare.names || !spare_array(&spare, room)) {
			error = -ENOMEM;
			break;
		}
		tp_lock(&tp_registry_lock);
		error = add(&key, probe, now, &spare, &room);
		tp_unlock(&tp_registry_lock);
	} while (error == -EAGAIN);
	spare_free(&spare);
	pthread_setcancelstate(cancel_state, NULL);
	return error;
}

int tp_registry_remove(const char *text, tp_probe_t func, void *data, bool now)
{
	struct tp_name *next, *dropped = NULL;
	int error = -ENOENT, cancel_state;

	if (!text || !func)
		return -EINVAL;
	const struct tp_key key = tp_key_of(text, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	tp_lock(&tp_registry_lock);
	for (struct tp_name *name = *bucket_of(key.hash); name && error; name = next) {
		next = name->next;
		if (!has_text(name, &key))
			continue;
		error = tp_probes_remove(name, func, data);
		tp_name_drop_if_unused(name, &dropped);
	}
	if (now)
		tp_sites_switch(); /* a site that stays on calls no probes */
	tp_unlock(&tp_registry_lock);
	tp_names_free(dropped);
	pthread_setcancelstate(cancel_state, NULL);
	return error;
}

int tp_registry_switch(void)
{
	tp_lock(&tp_registry_lock);
	int error = tp_sites_switch();
	tp_unlock(&tp_registry_lock);
	return error;
}

static int replace(const struct tp_key *key, tp_probe_t func, void *data, const struct tracepoint_func *by,
		   struct spare *spare, unsigned int *room)
{
	struct tp_name *name = tp_name_find(key).name;

	if (!name)
		return -ENOENT;
	if (data == by->data)
		return tp_probes_replace(name, func, by->func, data);
	*room = tp_probes_count(name);
	return tp_probes_exchange(name, func, data, by, &spare->array);
}

int tp_registry_replace(const struct tracepoint *tp, tp_probe_t func, void *data, const struct tracepoint_func *by)
{
	const struct tp_key key = tp_key_of(tp->name, tp->proto);
	struct spare spare = {.names = NULL};
	unsigned int room = 0;
	int error, cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	for (;;) {
		tp_lock(&tp_registry_lock);
		error = replace(&key, func, data, by, &spare, &room);
		tp_unlock(&tp_registry_lock);
		if (error != -EAGAIN)
			break;
		if (!spare_array(&spare, room)) {
			error = -ENOMEM;
			break;
		}
	}
	spare_free(&spare);
	pthread_setcancelstate(cancel_state, NULL);
	return error;
}

struct range {
	uintptr_t inside, begin, end;
};

static int find_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct range *range = data;
	int found = 0;

	(void)size;
	range->begin = UINTPTR_MAX;
	range->end = 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
		if (segment->p_type != PT_LOAD)
			continue;
		found = found || range->inside - begin < segment->p_memsz;
		range->begin = begin < range->begin ? begin : range->begin;
		range->end = begin + segment->p_memsz > range->end ? begin + segment->p_memsz : range->end;
	}
	return found;
}

static bool is_in_range(tp_probe_t func, const void *data)
{
	const struct range *range = data;

	return (uintptr_t)func >= range->begin && (uintptr_t)func < range->end;
}

void tp_registry_remove_object(const void *address)
{
	struct range range = {.inside = (uintptr_t)address};
	struct tp_name *next, *dropped = NULL;

	/* In front of the lock: it takes the loader's, with which others come for ours. */
	if (!dl_iterate_phdr(find_object, &range))
		return;
	tp_lock(&tp_registry_lock);
	for (size_t i = 0; i < NAME_BUCKETS; i++) {
		for (struct tp_name *name = names[i]; name; name = next) {
			next = name->next;
			tp_probes_remove_if(name, is_in_range, &range);
			tp_name_drop_if_unused(name, &dropped);
		}
	}
	tp_sites_leave();
	tp_unlock(&tp_registry_lock);
	tp_names_free(dropped);
	/* The end of the process waits for nobody, though a destructor may unload modules then. */
	if (!tp_exiting())
		tracepoint_synchronize_unregister();
}

/* ---- Grace periods ---- */

/* Leaves removed probes out of the arrays that readers walk. Without memory they stay, and are skipped. */
static void compact(void)
{
	struct spare spare = {.names = NULL};
	unsigned int room = 0;

	do {
		int error = 0;
		tp_lock(&tp_registry_lock);
		for (size_t i = 0; tp_probes_any_removed() && !error && i < NAME_BUCKETS; i++) {
			for (struct tp_name *name = names[i]; name && !error; name = name->next) {
				room = tp_probes_count(name);
				error = tp_probes_compact(name, &spare.array);
			}
		}
		tp_unlock(&tp_registry_lock);
		if (!error)
			break;
	} while (spare_array(&spare, room));
	spare_free(&spare);
}

int tracepoint_synchronize_unregister(void)
{
	int cancel_state;

	if (tp_reading()) {
		tp_complain("tracepoint_synchronize_unregister() was called from inside a probe, which would wait for "
			    "itself for ever: it did nothing; call it after the probe has returned");
		return -EDEADLK;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* liburcu's wait has cancellation points, too */
	compact();
	tp_lock(&tp_registry_lock);
	struct tp_probe_array *list = tp_probes_take_retired();
	tp_unlock(&tp_registry_lock);
	tp_wait_for_readers();
	tp_probes_free(list);
	pthread_setcancelstate(cancel_state, NULL);
	return 0;
}

void tp_registry_settle_probes(void)
{
	tp_lock(&tp_registry_lock);
	bool any = tp_probes_any_retired();
	tp_unlock(&tp_registry_lock);
	if (any && !tp_reading())
		tracepoint_synchronize_unregister();
}

/* ---- Forks ---- */

/* A child that must not use liburcu has no tracing. */
static void in_child(void)
{
	if (!tp_tracing_lost_in_fork())
		return;
	for (size_t i = 0; i < NAME_BUCKETS; i++) {
		for (struct tp_name *name = names[i]; name; name = name->next)
			tp_probes_abandon(name);
	}
	tp_sites_switch();
}

static void start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_REGISTRY, .in_child = in_child};

	tp_process_start();
	tp_fork_register(&hook);
}

void tp_core_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}
