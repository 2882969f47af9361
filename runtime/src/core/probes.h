/* SPDX-License-Identifier: MIT */
/*
 * core/probes.h - a name's probes, an array. Under tp_registry_lock, but where
 * another rule is given.
 */
#ifndef TP_PROBES_H
#define TP_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/tracepoint.h>

struct tp_probe_array;

/* A name that a tracepoint or a probe has. */
struct tp_name {
	struct tp_name *next;           /* of the same hash */
	struct tracepoint *tracepoints; /* of the loaded modules, by their next */
	struct tp_probe_array *probes;  /* NULL while there are none */
	unsigned int leaving;           /* tracepoints unlinked whose readers have not been waited for */
	uint32_t hash;                  /* of the text */
	const char *proto;
	char name[];
};

struct tp_probe_array *tp_probe_array_new(unsigned int nr); /* needs no lock */
unsigned int tp_probes_count(const struct tp_name *name);

/* -EAGAIN: *spare must have room for one more than there are. Else it may have been used, and is NULL then. */
int tp_probes_add(struct tp_name *name, const struct tracepoint_func *probe, struct tp_probe_array **spare);
int tp_probes_remove(struct tp_name *name, tp_probe_t func, void *data);
void tp_probes_remove_if(struct tp_name *name, bool (*condition)(tp_probe_t func, const void *data), const void *data);
int tp_probes_replace(struct tp_name *name, tp_probe_t func, tp_probe_t by, void *data);
/* The same for other data. -EEXIST: it has that probe already; -EAGAIN: *spare must have room for as many as there are. */
int tp_probes_exchange(struct tp_name *name, tp_probe_t func, void *data, const struct tracepoint_func *by,
		       struct tp_probe_array **spare);

/* Leaves out removed elements; -EAGAIN: *spare must have room for as many as there are. */
int tp_probes_compact(struct tp_name *name, struct tp_probe_array **spare);
bool tp_probes_any_removed(void);
tp_probe_t tp_probes_first(const struct tp_name *name);

/* What the tracepoint's regfunc returned, if it has refused the probes that there are. */
int tp_probes_link(struct tp_name *name, struct tracepoint *tp);
void tp_probes_unlink(struct tp_name *name, struct tracepoint *tp);
void tp_probes_fail(struct tracepoint *tp);
void tp_probes_abandon(struct tp_name *name);

/* Arrays that only readers need, and that are freed when these are gone. */
bool tp_probes_any_retired(void);
struct tp_probe_array *tp_probes_take_retired(void);
void tp_probes_free(struct tp_probe_array *list); /* needs no lock */

#endif /* TP_PROBES_H */
