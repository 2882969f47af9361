/* SPDX-License-Identifier: MIT */
/*
 * registry.c - the names of tracepoints, global to the process: which probes
 * each has, and which loaded modules define it.
 *
 * A name is there as long as it has a probe or a tracepoint. It copies what
 * it is told, as the module that told it may go before it does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define NAME_BUCKETS 1024

static struct tp_name *names[NAME_BUCKETS];

/* FNV-1a */
static struct tp_name **bucket_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return &names[hash % NAME_BUCKETS];
}

static struct tp_name *name_find(const char *text)
{
	struct tp_name *name = *bucket_of(text);

	while (name && strcmp(name->name, text) != 0)
		name = name->next;
	return name;
}

static struct tp_name *name_create(const char *text, const char *proto)
{
	struct tp_name **bucket = bucket_of(text);
	size_t name_size = strlen(text) + 1;
	size_t proto_size = strlen(proto) + 1;
	struct tp_name *name = tp_malloc(sizeof(*name) + name_size + proto_size);

	if (!name)
		return NULL;
	*name = (struct tp_name){.next = *bucket};
	memcpy(name->name, text, name_size);
	name->proto = memcpy(name->name + name_size, proto, proto_size);
	*bucket = name;
	return name;
}

static void name_drop_if_unused(struct tp_name *name)
{
	struct tp_name **at = bucket_of(name->name);

	if (name->sites || name->probes || name->leaving)
		return;
	while (*at != name)
		at = &(*at)->next;
	*at = name->next;
	free(name);
}

/* ---- Probes ---- */

int tp_probe_register(const char *text, const char *proto, tp_probe_t func, void *data, int prio)
{
	int error;

	if (!text || !proto || !func)
		return -EINVAL;
	tp_start();
	tp_readers_may_come();
	tp_lock(&tp_registry_lock);
	struct tp_name *name = name_find(text);
	if (!name)
		name = name_create(text, proto);
	if (!name) {
		error = -ENOMEM;
	} else if (strcmp(name->proto, proto) != 0) {
		error = -EINVAL;
	} else {
		error = tp_probes_add(name, func, data, prio);
		name_drop_if_unused(name);
	}
	tp_unlock(&tp_registry_lock);
	return error;
}

int tp_probe_unregister(const char *text, tp_probe_t func, void *data)
{
	int error = -ENOENT;

	if (!text || !func)
		return -EINVAL;
	tp_lock(&tp_registry_lock);
	struct tp_name *name = name_find(text);
	if (name) {
		error = tp_probes_remove(name, func, data);
		name_drop_if_unused(name);
	}
	tp_unlock(&tp_registry_lock);
	return error;
}

int tp_registry_replace(const char *text, tp_probe_t func, tp_probe_t by, void *data)
{
	tp_lock(&tp_registry_lock);
	struct tp_name *name = name_find(text);
	int error = name ? tp_probes_replace(name, func, by, data) : -ENOENT;
	tp_unlock(&tp_registry_lock);
	return error;
}

int tracepoint_probe_register_prio(struct tracepoint *tp, tp_probe_t func, void *data, int prio)
{
	return tp ? tp_probe_register(tp->name, tp->proto, func, data, prio) : -EINVAL;
}

int tracepoint_probe_register(struct tracepoint *tp, tp_probe_t func, void *data)
{
	return tracepoint_probe_register_prio(tp, func, data, TRACEPOINT_DEFAULT_PRIO);
}

int tracepoint_probe_unregister(struct tracepoint *tp, tp_probe_t func, void *data)
{
	return tp ? tp_probe_unregister(tp->name, func, data) : -EINVAL;
}

/* ---- Tracepoints ---- */

/* The file that an address was loaded from. */
static const char *object_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
}

static void complain_of_conflict(const struct tp_name *name, const char *what, const struct tracepoint *tp)
{
	const char *role = name->sites ? "the tracepoint" : "a probe";
	const void *other = name->sites ? (const void *)name->sites->tp : (const void *)(uintptr_t)tp_probes_first(name);

	tp_complain("%s '%s' of %s stays off: its prototype is (%s), but %s of that name in %s has (%s); "
		    "build both from the same definition, or rename one",
		    what, tp->name, object_of(tp), tp->proto, role, object_of(other), name->proto);
}

static void site_link(struct site *site)
{
	const struct tracepoint *tp = site->tp;
	int error = tp_probes_link(site->name, site);

	if (error)
		tp_complain("tracepoint '%s' of %s stays off: its regfunc has failed: %s", tp->name, object_of(tp),
			    strerror(-error));
}

/* reserved[1] says that the tracepoint was refused, and that this was said. */
static void site_load(struct tracepoint *tp)
{
	struct site *site = tp->reserved[0];

	if (site) {
		if (!site->loads++) { /* it comes back before the readers of its last life are gone */
			site->name->leaving--;
			site_link(site);
		}
		return;
	}

	struct tp_name *name = name_find(tp->name);
	tp->reserved[1] = tp;
	if (name && strcmp(name->proto, tp->proto) != 0) {
		complain_of_conflict(name, "tracepoint", tp);
		return;
	}
	site = tp_malloc(sizeof(*site));
	if (site && !name)
		name = name_create(tp->name, tp->proto);
	if (!site || !name) {
		free(site);
		tp_complain("tracepoint '%s' of %s stays off: out of memory", tp->name, object_of(tp));
		return;
	}
	*site = (struct site){.tp = tp, .name = name, .loads = 1};
	tp->reserved[0] = site;
	tp->reserved[1] = NULL;
	site_link(site);
}

/* Off from now on; but readers may be in it, so that its name is kept until settled. */
static void site_unload(struct tracepoint *tp)
{
	struct site *site = tp->reserved[0];

	if (!site || --site->loads)
		return;
	tp_probes_unlink(site->name, site);
	site->name->leaving++;
}

static void site_settle(struct tracepoint *tp)
{
	struct site *site = tp->reserved[0];

	if (!site || site->loads)
		return;
	tp->reserved[0] = NULL;
	site->name->leaving--;
	name_drop_if_unused(site->name);
	free(site);
}

static void for_each_of_module(struct tp_module *module, void (*fct)(struct tracepoint *tp))
{
	tp_lock(&tp_registry_lock);
	for (struct tracepoint **at = module->tracepoints; at < module->tracepoints_end; at++) {
		if (*at) /* some linkers pad sections */
			fct(*at);
	}
	tp_unlock(&tp_registry_lock);
}

void tp_registry_load(struct tp_module *module)
{
	for_each_of_module(module, site_load);
}

bool tp_registry_unload(struct tp_module *module)
{
	bool used = false;

	for_each_of_module(module, site_unload);
	tp_lock(&tp_registry_lock);
	for (struct tracepoint **at = module->tracepoints; at < module->tracepoints_end; at++) {
		const struct site *site = *at ? (*at)->reserved[0] : NULL;
		used = used || (site && site->used);
	}
	tp_unlock(&tp_registry_lock);
	return used;
}

void tp_registry_settle(struct tp_module *module)
{
	for_each_of_module(module, site_settle);
}

bool tp_registry_accepts(const struct tracepoint *tp)
{
	tp_lock(&tp_registry_lock);
	bool accepts = !tp->reserved[1];
	if (accepts && !tp->reserved[0]) {
		const struct tp_name *name = name_find(tp->name);
		accepts = !name || strcmp(name->proto, tp->proto) == 0;
		if (!accepts)
			complain_of_conflict(name, "a custom event of tracepoint", tp);
	}
	tp_unlock(&tp_registry_lock);
	return accepts;
}

void for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *priv), void *priv)
{
	tp_lock(&tp_registry_lock);
	for (size_t i = 0; i < NAME_BUCKETS; i++) {
		for (const struct tp_name *name = names[i]; name; name = name->next) {
			for (const struct site *site = name->sites; site; site = site->next)
				fct(site->tp, priv);
		}
	}
	tp_unlock(&tp_registry_lock);
}
