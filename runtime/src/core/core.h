/* SPDX-License-Identifier: MIT */
/*
 * core/core.h - tracepoints and their probes, for those above. The core knows
 * nothing of events and sinks: whoever wants probes called registers them.
 *
 *	registry.h    the names of tracepoints and their probes
 *	probes.h      a name's probe array
 *	site.h        the sites, and the modules that they are in
 *	definition.h  what modules define
 *
 * are the core's own.
 */
#ifndef TP_CORE_H
#define TP_CORE_H

#include <stdbool.h>
#include <stddef.h>

#include <tp/module.h>
#include <tp/tracepoint.h>

#include "base/locks.h"

/* The loaded modules, by their next; under tp_registry_lock. */
extern struct tp_module *tp_modules;

/* ---- Probes: registry.c ---- */

/*
 * Like tp_probe_register() and tp_probe_unregister(). Where now is false, sites
 * are switched by the next tp_registry_switch(), or by whoever comes before.
 * That returns -EPERM as long as some can't be switched on.
 */
int tp_registry_add(const char *name, const char *proto, const struct tracepoint_func *probe, bool now);
int tp_registry_remove(const char *name, tp_probe_t func, void *data, bool now);
int tp_registry_switch(void);

/*
 * Puts by in the place of the probe with func and data: each hit calls the one or the other, never both or neither.
 * Needs memory where by has other data; -ENOENT, -EEXIST (by is there already), -ENOMEM: nothing has changed.
 */
int tp_registry_replace(const struct tracepoint *tp, tp_probe_t func, void *data, const struct tracepoint_func *by);

/* Waits for readers, where something is left over that only they need. In a reader it does nothing. */
void tp_registry_settle_probes(void);

/* ---- Modules: module.c ---- */

/*
 * What somebody above does about modules that come and go. The functions are
 * called one at a time, under a lock of the core's. Where a module comes or
 * goes, the loader's is held, too; not for those that tp_modules_wake() and tp_modules_listen() find.
 */
struct tp_module_hook {
	void (*coming)(struct tp_module *module); /* its tracepoints are about to be linked; may take a lock ... */
	void (*load)(struct tp_module *module);   /* ... that this gives back: they are linked */
	bool (*unload)(struct tp_module *module); /* they still are. True: readers must be waited for */
	void (*settle)(struct tp_module *module); /* no reader is in the module any more */
};

/*
 * Links the modules that have been announced, and from then on each that comes. To be called before anything is asked of
 * a tracepoint, while holding no lock. -ENOMEM: some could not be linked, and stay off until the next call.
 */
int tp_modules_wake(void);

/* For ever; there is one. Calls coming() and load() for the modules that are there. Not while holding a lock. */
void tp_modules_listen(const struct tp_module_hook *hook);

/*
 * Whether the library serves the module's interface: core/interface.h.
 * False after a message; then nothing of it but its number may be looked at.
 */
bool tp_module_is_served(const struct tp_module *module);

/*
 * Whether an event may be on this tracepoint: on one of a module that was
 * loaded, or on one that only names another by its name and prototype. path is
 * that of the event's module. False after a message that says why not.
 */
bool tp_module_accepts(const struct tracepoint *tp, const char *path);

/* For callers who can't return an error: tracepoints whose sites can't be switched on stay off, after a message. */
void tp_sites_switch_or_give_up(void);

/* ---- Markers, and words for them and for tracepoints: marker.c ---- */

/* The iterator of all markers. */
void tp_marker_iterate(struct tracepoint *tp, ...);

/* The name of a marker's tracepoint begins with it. */
#define TP_MARKER_PREFIX "marker:"

/* How a message speaks of a tracepoint, or of a marker. */
struct tp_wording {
	const char *kind;         /* "tracepoint" */
	const char *proto;        /* "prototype" ... */
	const char *open, *close; /* ... between these */
	const char *remedy;
	size_t prefix;            /* bytes of the name that are not for people */
};

const struct tp_wording *tp_wording_of(const char *name);
bool tp_is_marker(const struct tracepoint *tp);

#endif /* TP_CORE_H */
