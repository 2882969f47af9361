/* SPDX-License-Identifier: MIT */
/*
 * registry.c - the names of tracepoints, global to the process: which probes
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
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <urcu/urcu-bp.h>

#include "internal.h"

#define NAME_BUCKETS 1024

static struct tp_name *names[NAME_BUCKETS];

struct tp_module *tp_modules;

/* What sites are led to whose tracepoint has another prototype. */
static struct tracepoint nowhere;

/* FNV-1a */
static struct tp_name **bucket_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return &names[hash % NAME_BUCKETS];
}

static struct tp_name *name_find(const char *text, const char *proto)
{
	struct tp_name *name = *bucket_of(text);

	while (name && (strcmp(name->name, text) != 0 || strcmp(name->proto, proto) != 0))
		name = name->next;
	return name;
}

/* The one of those with another prototype that is defined; or, where there must be probes, one that has some. */
static const struct tp_name *name_find_other(const char *text, const char *proto, bool probes)
{
	const struct tp_name *name = *bucket_of(text);

	while (name && (strcmp(name->name, text) != 0 || strcmp(name->proto, proto) == 0 ||
			!(probes ? tp_probes_count(name) != 0 : name->tracepoints != NULL)))
		name = name->next;
	return name;
}

/* ---- What is allocated before, and freed after, the lock is held ---- */

struct spare {
	struct tp_name *names; /* by their next */
	struct probe_array *array;
};

static bool spare_name(struct spare *spare, const char *text, const char *proto)
{
	size_t name_size = strlen(text) + 1;
	size_t proto_size = strlen(proto) + 1;
	struct tp_name *name = tp_malloc(sizeof(*name) + name_size + proto_size);

	if (!name)
		return false;
	*name = (struct tp_name){.next = spare->names};
	memcpy(name->name, text, name_size);
	name->proto = memcpy(name->name + name_size, proto, proto_size);
	spare->names = name;
	return true;
}

static bool spare_array(struct spare *spare, unsigned int nr)
{
	free(spare->array);
	spare->array = tp_probe_array_new(nr);
	return spare->array != NULL;
}

static void spare_free(struct spare *spare)
{
	while (spare->names) {
		struct tp_name *name = spare->names;
		spare->names = name->next;
		free(name);
	}
	free(spare->array);
}

/* The name; where it is new, the last that was made spare. */
static struct tp_name *name_get(const char *text, const char *proto, struct spare *spare)
{
	struct tp_name **bucket = bucket_of(text);
	struct tp_name *name = name_find(text, proto);

	if (name)
		return name;
	name = spare->names;
	spare->names = name->next;
	name->next = *bucket;
	*bucket = name;
	return name;
}

static void name_drop_if_unused(struct tp_name *name, struct spare *spare)
{
	struct tp_name **at = bucket_of(name->name);

	if (name->tracepoints || name->probes || name->leaving)
		return;
	while (*at != name)
		at = &(*at)->next;
	*at = name->next;
	name->next = spare->names;
	spare->names = name;
}

/* ---- Probes ---- */

static int add(const char *text, const char *proto, const struct tracepoint_func *probe, bool now, struct spare *spare,
	       unsigned int *room)
{
	if (name_find_other(text, proto, false))
		return -EINVAL;
	struct tp_name *name = name_get(text, proto, spare);
	*room = tp_probes_count(name) + 1;
	int error = tp_probes_add(name, probe, &spare->array);
	if (!error && now) {
		error = tp_sites_switch();
		if (error) {
			tp_probes_remove(name, probe->func, probe->data);
			tp_sites_switch();
		}
	}
	name_drop_if_unused(name, spare);
	return error;
}

int tp_registry_add(const char *text, const char *proto, tp_probe_t func, void *data, int prio, bool now)
{
	const struct tracepoint_func probe = {.func = func, .data = data, .prio = prio};
	struct spare spare = {.names = NULL};
	unsigned int room = 4; /* enough for most */
	int error;

	if (!text || !proto || !func)
		return -EINVAL;
	if (tp_forked_alone())
		return -EDEADLK;
	tp_start();
	tp_note_exit();
	do {
		if ((!spare.names && !spare_name(&spare, text, proto)) || !spare_array(&spare, room)) {
			error = -ENOMEM;
			break;
		}
		tp_lock(&tp_registry_lock);
		error = add(text, proto, &probe, now, &spare, &room);
		tp_unlock(&tp_registry_lock);
	} while (error == -EAGAIN);
	spare_free(&spare);
	return error;
}

int tp_registry_register(const char *text, const char *proto, tp_probe_t func, void *data, int prio)
{
	return tp_registry_add(text, proto, func, data, prio, true);
}

int tp_registry_remove(const char *text, tp_probe_t func, void *data, bool now)
{
	struct spare spare = {.names = NULL};
	struct tp_name *next;
	int error = -ENOENT;

	if (!text || !func)
		return -EINVAL;
	tp_lock(&tp_registry_lock);
	for (struct tp_name *name = *bucket_of(text); name && error; name = next) {
		next = name->next;
		if (strcmp(name->name, text) == 0)
			error = tp_probes_remove(name, func, data);
		name_drop_if_unused(name, &spare);
	}
	if (now)
		tp_sites_switch(); /* a site that stays on calls no probes */
	tp_unlock(&tp_registry_lock);
	spare_free(&spare);
	return error;
}

int tp_probe_unregister(const char *text, tp_probe_t func, void *data)
{
	return tp_registry_remove(text, func, data, true);
}

int tp_registry_switch(void)
{
	tp_lock(&tp_registry_lock);
	int error = tp_sites_switch();
	tp_unlock(&tp_registry_lock);
	return error;
}

int tp_registry_replace(const struct tracepoint *tp, tp_probe_t func, tp_probe_t by, void *data)
{
	tp_lock(&tp_registry_lock);
	struct tp_name *name = name_find(tp->name, tp->proto);
	int error = name ? tp_probes_replace(name, func, by, data) : -ENOENT;
	tp_unlock(&tp_registry_lock);
	return error;
}

/* Where an address was loaded from. */
static const void *object_at(const void *address, const char **path)
{
	Dl_info info;
	bool known = dladdr(address, &info) && info.dli_fname;

	*path = known ? info.dli_fname : "?";
	return known ? info.dli_fbase : NULL;
}

static bool is_in_object(tp_probe_t func, const void *base)
{
	const char *path;

	return object_at((const void *)(uintptr_t)func, &path) == base;
}

void tp_registry_remove_object(const void *address)
{
	struct spare spare = {.names = NULL};
	struct tp_name *next;
	const char *path;
	const void *base = object_at(address, &path);

	if (!base || tp_exiting() || tp_forked_alone())
		return;
	tp_lock(&tp_registry_lock);
	for (size_t i = 0; i < NAME_BUCKETS; i++) {
		for (struct tp_name *name = names[i]; name; name = next) {
			next = name->next;
			tp_probes_remove_if(name, is_in_object, base);
			name_drop_if_unused(name, &spare);
		}
	}
	tp_sites_switch();
	tp_unlock(&tp_registry_lock);
	spare_free(&spare);
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
	if (urcu_bp_read_ongoing()) {
		tp_complain("tracepoint_synchronize_unregister() was called from inside a probe, which would wait for "
			    "itself for ever: it did nothing; call it after the probe has returned");
		return -EDEADLK;
	}
	compact();
	tp_lock(&tp_registry_lock);
	struct probe_array *list = tp_probes_take_retired();
	tp_unlock(&tp_registry_lock);
	tp_wait_for_readers();
	tp_probes_free(list);
	return 0;
}

void tp_registry_settle_probes(void)
{
	tp_lock(&tp_registry_lock);
	bool any = tp_probes_any_retired();
	tp_unlock(&tp_registry_lock);
	if (any && !urcu_bp_read_ongoing())
		tracepoint_synchronize_unregister();
}

/* ---- Tracepoints ---- */

static void complain_of_conflict(const struct tp_name *name, const char *what, const struct tracepoint *tp)
{
	const void *other = name->tracepoints ? (const void *)name->tracepoints
					      : (const void *)(uintptr_t)tp_probes_first(name);
	const char *ours, *theirs;

	object_at(tp, &ours);
	object_at(other, &theirs);
	if (name->tracepoints)
		tp_complain("%s '%s' of %s stays off: its prototype is (%s), but the tracepoint of that name in %s has "
			    "(%s); build both from the same definition, or rename one",
			    what, tp->name, ours, tp->proto, theirs, name->proto);
	else
		tp_complain("a probe in %s waits for a tracepoint '%s' with the prototype (%s), but that of %s has "
			    "(%s): it is not called; build both from the same definition",
			    theirs, tp->name, name->proto, ours, tp->proto);
}

static void complain_of_failure(const struct tracepoint *tp, const char *what, int error)
{
	const char *path;

	object_at(tp, &path);
	tp_complain("tracepoint '%s' of %s stays off: %s: %s", tp->name, path, what, strerror(-error));
}

static void tracepoint_load(struct tracepoint *tp, struct spare *spare)
{
	const struct tp_name *other = name_find_other(tp->name, tp->proto, false);
	struct tp_name *name = tp->registered;

	if (name) /* it comes back before the readers of its last life are gone */
		name->leaving--;
	if (other) {
		tp->registered = NULL;
		tp->state = TP_STATE_REFUSED;
		complain_of_conflict(other, "tracepoint", tp);
		if (name)
			name_drop_if_unused(name, spare);
		return;
	}
	if (!name)
		name = name_get(tp->name, tp->proto, spare);
	tp->registered = name;
	int error = tp_probes_link(name, tp);
	if (error)
		complain_of_failure(tp, "its regfunc has failed", error);
	other = name_find_other(tp->name, tp->proto, true);
	if (other)
		complain_of_conflict(other, "tracepoint", tp);
}

/* Off from now on; but readers may be in it, so that its name is kept until settled. */
static void tracepoint_unload(struct tracepoint *tp)
{
	if (tp->registered) {
		tp_probes_unlink(tp->registered, tp);
		tp->registered->leaving++;
	}
	tp->state = TP_STATE_UNLOADED;
}

static void tracepoint_settle(struct tracepoint *tp, struct spare *spare)
{
	struct tp_name *name = tp->registered;

	if (!name)
		return;
	tp->registered = NULL;
	name->leaving--;
	name_drop_if_unused(name, spare);
}

bool tp_registry_accepts(const struct tracepoint *tp)
{
	tp_lock(&tp_registry_lock);
	bool accepts = tp->state != TP_STATE_REFUSED;
	const struct tp_name *other =
		accepts && !tp->registered ? name_find_other(tp->name, tp->proto, false) : NULL;
	if (other) {
		accepts = false;
		complain_of_conflict(other, "a custom event of tracepoint", tp);
	}
	tp_unlock(&tp_registry_lock);
	return accepts;
}

/* ---- Modules ---- */

static void import_load(struct tp_import *import)
{
	struct tracepoint *tp = import->tp;
	const char *ours, *theirs;

	if (strcmp(import->proto, tp->proto) == 0) {
		if (tp->enabled)
			tp_sites_change(tp);
		return;
	}
	object_at(import, &ours);
	object_at(tp, &theirs);
	tp_complain("the sites of tracepoint '%s' in %s stay off: they say that its prototype is (%s), but it is defined "
		    "in %s with (%s); build both from the same definition",
		    tp->name, ours, import->proto, theirs, tp->proto);
	import->tp = &nowhere;
}

/* For those who have nobody to tell: tracepoints whose sites can't be switched on stay off. */
static void switch_or_give_up(void)
{
	int error = tp_sites_switch();

	if (!error)
		return;
	for (struct tracepoint *tp = tp_sites_changed(); tp; tp = tp->next_changed) {
		complain_of_failure(tp, "its sites can't be switched", error);
		tp_probes_fail(tp);
	}
	tp_sites_switch();
}

void tp_registry_switch_or_give_up(void)
{
	tp_lock(&tp_registry_lock);
	switch_or_give_up();
	tp_unlock(&tp_registry_lock);
}

/* The arrays are the linker's, and some linkers pad them with NULL. */
void tp_registry_load(struct tp_module *module)
{
	struct spare spare = {.names = NULL};
	struct tp_module **at = &tp_modules;

	object_at(module, &module->path);
	/* First of all: from now on its sites are switched by whoever switches any. */
	tp_lock(&tp_registry_lock);
	for (struct tp_import **import = module->imports; import < module->imports_end; import++) {
		if (*import)
			import_load(*import);
	}
	while (*at)
		at = &(*at)->next;
	module->next = NULL;
	*at = module;
	tp_unlock(&tp_registry_lock);

	for (struct tracepoint **tp = module->tracepoints; tp < module->tracepoints_end; tp++) {
		if (!*tp)
			continue;
		bool memory = spare_name(&spare, (*tp)->name, (*tp)->proto);
		tp_lock(&tp_registry_lock);
		if ((*tp)->loads++ == 0) {
			(*tp)->module = module;
			if (memory) {
				tracepoint_load(*tp, &spare);
			} else {
				(*tp)->state = TP_STATE_FAILED;
				complain_of_failure(*tp, "no room for its name", -ENOMEM);
			}
		}
		tp_unlock(&tp_registry_lock);
	}
	tp_registry_switch_or_give_up();
	spare_free(&spare);
}

bool tp_registry_unload(struct tp_module *module)
{
	struct tp_module **at = &tp_modules;
	bool used = false;

	tp_lock(&tp_registry_lock);
	for (struct tracepoint **tp = module->tracepoints; tp < module->tracepoints_end; tp++) {
		if (!*tp)
			continue;
		used = used || (*tp)->used;
		if ((*tp)->module == module)
			(*tp)->module = NULL;
		if (--(*tp)->loads == 0)
			tracepoint_unload(*tp);
	}
	tp_sites_switch();
	while (*at != module)
		at = &(*at)->next;
	*at = module->next;
	tp_unlock(&tp_registry_lock);
	return used;
}

void tp_registry_settle(struct tp_module *module)
{
	struct spare spare = {.names = NULL};

	tp_lock(&tp_registry_lock);
	for (struct tracepoint **tp = module->tracepoints; tp < module->tracepoints_end; tp++) {
		if (*tp && !(*tp)->loads)
			tracepoint_settle(*tp, &spare);
	}
	tp_unlock(&tp_registry_lock);
	spare_free(&spare);
}

void for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *priv), void *priv)
{
	tp_lock(&tp_registry_lock);
	for (const struct tp_module *module = tp_modules; module; module = module->next) {
		for (struct tracepoint **tp = module->tracepoints; tp < module->tracepoints_end; tp++) {
			if (*tp && (*tp)->module == module)
				fct(*tp, priv);
		}
	}
	tp_unlock(&tp_registry_lock);
}

void tp_get_tracepoint_info(const struct tracepoint *tp, struct tp_tracepoint_info *info)
{
	*info = (struct tp_tracepoint_info){
		.state = (enum tp_state)tp->state,
		.module = tp->module->path,
		.nr_sites = tp_sites_count(tp),
		.nr_probes = tp->registered ? tp_probes_count(tp->registered) : 0,
	};
}

/* Under the lock, in a forked child that is alone. */
void tp_registry_abandon(void)
{
	for (size_t i = 0; i < NAME_BUCKETS; i++) {
		for (struct tp_name *name = names[i]; name; name = name->next)
			tp_probes_abandon(name);
	}
	tp_sites_switch();
}
