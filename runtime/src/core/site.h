/* SPDX-License-Identifier: MIT */
/*
 * core/site.h - the sites of the loaded modules, and the enable flags in front of
 * probes. All under tp_registry_lock.
 */
#ifndef TP_CORE_SITE_H
#define TP_CORE_SITE_H

#include <tp/module.h>
#include <tp/tracepoint.h>

/* Looks where the sites of each tracepoint are. */
void tp_sites_load(const struct tp_module *module);

/* The tracepoint's sites are to be switched to what its enabled says. */
void tp_sites_change(struct tracepoint *tp);

/* Switches the sites of all those. 0, or -EPERM: those of which some could not be switched on stay changed. */
int tp_sites_switch(void);

/*
 * The same where a module goes. At the end of the process sites stay as they
 * are: they call no probes, and a sandbox may kill whoever opens a file.
 */
void tp_sites_leave(void);

/* The changed tracepoints, by their next_changed. */
struct tracepoint *tp_sites_changed(void);

unsigned int tp_sites_count(const struct tracepoint *tp);

/*
 * Calls of the tracepoint's probes go through the check from here on; with NULL
 * they do not. While *enable_flag is 0, calls that have begun already may find it
 * closed, too.
 */
void tp_enable_flag_set(struct tracepoint *tp, const int *enable_flag);

#endif /* TP_CORE_SITE_H */
