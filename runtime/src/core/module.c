/* SPDX-License-Identifier: MIT */
/*
 * core/module.c - modules that come and go: their tracepoints are linked to
 * names, their sites are led to tracepoints.
 *
 * As long as nobody has asked for a tracepoint, the modules are only listed: a
 * program that is not traced starts without looking at each of its tracepoints,
 * and the pages that they are in stay what the file has.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/hit.h"
#include "base/message.h"
#include "core/core.h"
#include "core/definition.h"
#include "core/interface.h"
#include "core/registry.h"
#include "core/site.h"

/* One module at a time is under tp_modules_lock, and so are these. */
static const struct tp_module_hook *hook;
static enum {
	ASLEEP, /* nobody has asked for a tracepoint: modules are listed */
	SHORT,  /* there was no memory to link one of them */
	AWAKE,  /* all are linked */
} state;

#define PLACE_SIZE 256

/* Where sites are led whose tracepoint has another prototype. */
static struct tracepoint nowhere;

/* The path of the object that an address was loaded from, or "?". Takes the loader's lock: only where that is held already. */
static const char *object_at(const void *address)
{
	Dl_info info;
	return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
}

/* That of a tracepoint's module, as it was when that was loaded; under tp_registry_lock. */
static const char *path_of(const struct tracepoint *tp)
{
	return tp->module ? tp->module->path : "?";
}

/* ---- Tracepoints ---- */

/* The first of the module's tracepoints, then the next, markers behind the others; NULL at the end. */
static struct tracepoint *tracepoint_at(const struct tp_module *module, size_t *i)
{
	const size_t own = (size_t)(module->tracepoints_end - module->tracepoints);
	const size_t all = own + (size_t)(module->markers_end - module->markers);

	const size_t at = (*i)++;

	if (at >= all)
		return NULL;
	return at < own ? module->tracepoints[at] : &module->markers[at - own]->tp;
}

/* Where a marker stands in the program's text, as a module may have many of one name; "" for tracepoints. */
static const char *place_of(char text[PLACE_SIZE], const struct tracepoint *tp)
{
	text[0] = '\0';
	if (tp_is_marker(tp))
		snprintf(text, PLACE_SIZE, " (%s:%d)", tp->file, tp->line);
	return text;
}

/* ours is the path of the tracepoint's, or event's, module. */
static void complain_of_conflict(const struct tp_name *name, const char *what, const struct tracepoint *tp, const char *ours)
{
	const struct tp_wording *w = tp_wording_of(tp->name);
	const char *text = tp->name + w->prefix;
	char our_place[PLACE_SIZE], their_place[PLACE_SIZE];

	if (name->tracepoints)
		tp_complain("%s '%s' of %s%s stays off: its %s is %s%s%s, but the %s of that name in %s%s has %s%s%s; "
			    "%s, or rename one",
			    what, text, ours, place_of(our_place, tp), w->proto, w->open, tp->proto, w->close, w->kind,
			    path_of(name->tracepoints), place_of(their_place, name->tracepoints), w->open, name->proto,
			    w->close, w->remedy);
	else
		tp_complain("a probe in %s waits for a %s '%s' with the %s %s%s%s, but that of %s has %s%s%s: it is "
			    "not called; %s",
			    object_at((const void *)(uintptr_t)tp_probes_first(name)), w->kind, text, w->proto, w->open,
			    name->proto, w->close, ours, w->open, tp->proto, w->close, w->remedy);
}

static void complain_of_failure(const struct tracepoint *tp, const char *what, int error)
{
	const struct tp_wording *w = tp_wording_of(tp->name);

	tp_complain("%s '%s' of %s stays off: %s: %s", w->kind, tp->name + w->prefix, path_of(tp), what,
		    tp_strerror(-error));
}

/* *fresh is a name for it, and NULL afterwards if it was needed. */
static void tracepoint_load(struct tracepoint *tp, struct tp_name **fresh, struct tp_name **dropped)
{
	const struct tp_key key = tp_key_of(tp->name, tp->proto);
	const struct tp_found found = tp_name_find(&key);
	struct tp_name *name = tp->registered;

	if (name) /* it comes back before the readers of its last life are gone */
		name->leaving--;
	if (found.defined) {
		tp->registered = NULL;
		tp->state = TP_STATE_REFUSED;
		complain_of_conflict(found.defined, tp_wording_of(tp->name)->kind, tp, path_of(tp));
		if (name)
			tp_name_drop_if_unused(name, dropped);
		return;
	}
	if (!name)
		name = tp_name_get(&found, fresh);
	tp->registered = name;
	int error = tp_probes_link(name, tp);
	if (error)
		complain_of_failure(tp, "its regfunc has failed", error);
	if (found.probed)
		complain_of_conflict(found.probed, tp_wording_of(tp->name)->kind, tp, path_of(tp));
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

static void tracepoint_settle(struct tracepoint *tp, struct tp_name **dropped)
{
	struct tp_name *name = tp->registered;

	if (!name)
		return;
	tp->registered = NULL;
	name->leaving--;
	tp_name_drop_if_unused(name, dropped);
}

bool tp_module_accepts(const struct tracepoint *tp, const char *path)
{
	if (tp->registered) /* that changes under tp_modules_lock only, which is held */
		return true;
	const struct tp_key key = tp_key_of(tp->name, tp->proto);
	tp_lock(&tp_registry_lock);
	bool accepts = tp->state != TP_STATE_REFUSED;
	const struct tp_name *other = accepts ? tp_name_find(&key).defined : NULL;
	if (other) {
		accepts = false;
		complain_of_conflict(other, "a custom event of tracepoint", tp, path);
	}
	tp_unlock(&tp_registry_lock);
	return accepts;
}

/* ---- The tracepoints and sites of a module ---- */

static void import_load(const struct tp_module *module, struct tp_import *import)
{
	struct tracepoint *tp = import->tp;

	if (strcmp(import->proto, tp->proto) == 0) {
		if (tp->enabled)
			tp_sites_change(tp);
		return;
	}
	tp_complain("the sites of tracepoint '%s' in %s stay off: they say that its prototype is (%s), but it is defined "
		    "in %s with (%s); build both from the same definition",
		    tp->name, module->path, import->proto, path_of(tp), tp->proto);
	import->tp = &nowhere;
}

/* Those of the module, and those of others that lead to it: any of them can have come first. */
static void imports_load(const struct tp_module *module)
{
	for (struct tp_module *from = tp_modules; from; from = from->next) {
		for (struct tp_import **at = from->imports; at < from->imports_end; at++) {
			struct tracepoint *tp = *at ? (*at)->tp : NULL; /* some linkers pad with NULL */
			if (tp && tp->module && (tp->module == module || from == module))
				import_load(from, *at);
		}
	}
}

void tp_sites_switch_or_give_up(void)
{
	tp_lock(&tp_registry_lock);
	int error = tp_sites_switch();
	for (struct tracepoint *tp = error ? tp_sites_changed() : NULL; tp; tp = tp->next_changed) {
		complain_of_failure(tp, "its sites can't be switched", error);
		tp_probes_fail(tp);
	}
	if (error)
		tp_sites_switch();
	tp_unlock(&tp_registry_lock);
}

/* A name for each of the module's tracepoints, by their next, in order. False: no memory. */
static bool names_for(const struct tp_module *module, struct tp_name **names)
{
	struct tp_name **end = names;
	struct tracepoint *tp;

	*names = NULL;
	for (size_t i = 0; (tp = tracepoint_at(module, &i)); end = &(*end)->next) {
		const struct tp_key key = tp_key_of(tp->name, tp->proto);
		*end = tp_name_new(&key);
		if (!*end)
			return false;
	}
	return true;
}

static void load_each_tracepoint(struct tp_module *module, struct tp_name *names)
{
	struct tp_name *dropped = NULL;
	struct tracepoint *tp;

	tp_lock(&tp_registry_lock);
	for (size_t i = 0; (tp = tracepoint_at(module, &i));) {
		struct tp_name *fresh = names;
		names = names->next;
		tp->module = module;
		tracepoint_load(tp, &fresh, &dropped);
		if (fresh) {
			fresh->next = dropped;
			dropped = fresh;
		}
	}
	tp_unlock(&tp_registry_lock);
	tp_names_free(dropped);
}

static void list_module(struct tp_module *module)
{
	struct tp_module **at = &tp_modules;

	if (!module->path) /* one that is defined at run time brings its own */
		module->path = object_at(module);
	tp_lock(&tp_registry_lock);
	while (*at)
		at = &(*at)->next;
	module->next = NULL;
	*at = module;
	tp_unlock(&tp_registry_lock);
}

/* The module is listed, and so its sites are switched by whoever switches any. */
static void tracepoints_load(struct tp_module *module, struct tp_name *names)
{
	tp_lock(&tp_registry_lock);
	imports_load(module);
	tp_sites_load(module);
	tp_unlock(&tp_registry_lock);

	load_each_tracepoint(module, names);
	tp_sites_switch_or_give_up();
}

/* Links what the module has. Without memory it stays off, until somebody asks again. */
static int link_module(struct tp_module *module)
{
	struct tp_name *names = NULL;

	if (tp_module_define(module) < 0 || !names_for(module, &names)) {
		tp_names_free(names);
		return -ENOMEM;
	}
	if (hook)
		hook->coming(module);
	tracepoints_load(module, names);
	if (hook)
		hook->load(module);
	module->state = TP_MODULE_LINKED;
	return 0;
}

static int link_modules(void)
{
	int error = 0;

	for (struct tp_module *module = tp_modules; module && !error; module = module->next)
		error = module->state == TP_MODULE_LINKED ? 0 : link_module(module);
	__atomic_store_n(&state, error ? SHORT : AWAKE, __ATOMIC_RELEASE);
	return error;
}

/* False where no reader can be in anything of the module's, so that no grace period is needed. */
static bool tracepoints_unload(struct tp_module *module)
{
	struct tracepoint *tp;
	bool used = false;

	tp_lock(&tp_registry_lock);
	for (size_t i = 0; (tp = tracepoint_at(module, &i));) {
		used = used || tp->used;
		tp->module = NULL;
		tracepoint_unload(tp);
	}
	tp_sites_leave();
	tp_unlock(&tp_registry_lock);
	return used;
}

static void unlist_module(const struct tp_module *module)
{
	struct tp_module **at = &tp_modules;

	tp_lock(&tp_registry_lock);
	while (*at != module)
		at = &(*at)->next;
	*at = module->next;
	tp_unlock(&tp_registry_lock);
}

static void tracepoints_settle(struct tp_module *module)
{
	struct tp_name *dropped = NULL;
	struct tracepoint *tp;

	tp_lock(&tp_registry_lock);
	for (size_t i = 0; (tp = tracepoint_at(module, &i));)
		tracepoint_settle(tp, &dropped);
	tp_unlock(&tp_registry_lock);
	tp_names_free(dropped);
	tp_module_forget(module);
}

/* ---- Modules ---- */

/* Structures of an older interface may be shorter, as new members come to their end. */
static bool fits(const struct tp_module *module, size_t size, size_t ours)
{
	return module->interface == TP_INTERFACE_VERSION ? size == ours : size <= ours;
}

/* Those that are not compared by fits() are the same in all interfaces that TP_SONAME stands for. */
static bool is_served(const struct tp_module *module)
{
	return module->interface >= TP_OLDEST_INTERFACE && module->interface <= TP_INTERFACE_VERSION &&
	       fits(module, module->size, sizeof(struct tp_module)) &&
	       module->tracepoint_size == sizeof(struct tracepoint) &&
	       module->probe_size == sizeof(struct tracepoint_func) && module->site_size == sizeof(struct tp_site) &&
	       fits(module, module->event_size, sizeof(struct tp_event)) &&
	       fits(module, module->marker_size, sizeof(struct marker)) &&
	       fits(module, module->import_size, sizeof(struct tp_import)) &&
	       module->definition_size == sizeof(struct tp_definition);
}

static void complain_of_interface(const struct tp_module *module)
{
	tp_complain("%s was built for another interface of libtp (%u; this is %u): its tracepoints stay off; %s",
		    object_at(module), (unsigned int)module->interface, TP_INTERFACE_VERSION,
		    module->interface > TP_INTERFACE_VERSION ? "install a newer libtp, or build it again with this one"
							     : "build it again with this one");
}

/* A module announces itself once for each of its files, but the message is for once. */
bool tp_module_is_served(const struct tp_module *module)
{
	static const struct tp_module *told;

	if (is_served(module))
		return true;
	if (__atomic_exchange_n(&told, module, __ATOMIC_RELAXED) != module)
		complain_of_interface(module);
	return false;
}

int tp_modules_wake(void)
{
	int error;

	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == AWAKE)
		return 0;
	tp_core_start();
	tp_lock(&tp_modules_lock);
	error = link_modules();
	tp_unlock(&tp_modules_lock);
	return error;
}

void tp_modules_listen(const struct tp_module_hook *listener)
{
	tp_core_start();
	tp_lock(&tp_modules_lock);
	hook = listener;
	for (struct tp_module *module = tp_modules; module; module = module->next) {
		if (module->state != TP_MODULE_LINKED)
			continue;
		hook->coming(module);
		hook->load(module);
	}
	tp_unlock(&tp_modules_lock);
}

/* Modules announce themselves once for each of their files. */
void tp_module_load(struct tp_module *module)
{
	tp_core_start();
	if (!tp_module_is_served(module))
		return;
	if (__atomic_load_n(&module->state, __ATOMIC_RELAXED) == TP_MODULE_UNLOADED)
		tp_note_exit();
	tp_lock(&tp_modules_lock);
	if (module->state == TP_MODULE_UNLOADED) {
		list_module(module);
		module->state = TP_MODULE_LISTED;
		if (state != ASLEEP && link_modules() < 0)
			tp_complain("the tracepoints of %s stay off until somebody registers a probe or enables an event: "
				    "out of memory", module->path);
	}
	tp_unlock(&tp_modules_lock);
}

void tp_module_unload(struct tp_module *module)
{
	bool used = false;

	if (!is_served(module))
		return;
	tp_lock(&tp_modules_lock);
	const bool linked = module->state == TP_MODULE_LINKED;
	if (linked) {
		used = hook && hook->unload(module);
		used = tracepoints_unload(module) || used;
	}
	if (module->state != TP_MODULE_UNLOADED)
		unlist_module(module);
	if (!linked)
		tp_module_forget(module);
	module->state = TP_MODULE_UNLOADED;
	tp_unlock(&tp_modules_lock);
	/* What the readers may use is left as it is; also where exit() was called from inside a probe. */
	if (!linked || tp_exiting() || (used && tp_reading()))
		return;
	if (used)
		tracepoint_synchronize_unregister();
	tp_lock(&tp_modules_lock);
	if (hook)
		hook->settle(module);
	tracepoints_settle(module);
	tp_unlock(&tp_modules_lock);
}
