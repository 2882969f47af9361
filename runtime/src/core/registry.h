/* SPDX-License-Identifier: MIT */
/*
 * core/registry.h - the names of registry.c, as module.c sees them. All under
 * tp_registry_lock, but for what makes and frees.
 */
#ifndef TP_REGISTRY_H
#define TP_REGISTRY_H

#include <stdbool.h>

#include <tp/tracepoint.h>

#include "base/base.h"
#include "core/probes.h"

/* What names are found by. */
struct tp_key {
	const char *text, *proto;
	uint32_t hash; /* of the text */
};

static inline struct tp_key tp_key_of(const char *text, const char *proto)
{
	return (struct tp_key){text, proto, tp_hash(text)};
}

/* A name that is not in the registry yet; its memory is the caller's. NULL: no memory. */
struct tp_name *tp_name_new(const struct tp_key *key);
/* The names that have a key's text. NULL: there is none. */
struct tp_found {
	struct tp_name *name;          /* the one with its prototype; and with another one ... */
	const struct tp_name *defined; /* ... that of a loaded tracepoint */
	const struct tp_name *probed;  /* ... one that has probes */
};

struct tp_found tp_name_find(const struct tp_key *key);
/* The name that was found; if there is none, *fresh, which becomes NULL. */
struct tp_name *tp_name_get(const struct tp_found *found, struct tp_name **fresh);
/* Puts it into *dropped, for tp_names_free(). */
void tp_name_drop_if_unused(struct tp_name *name, struct tp_name **dropped);
void tp_names_free(struct tp_name *names); /* and the next ones; without the lock */

/* What the core needs once a process; called wherever it is entered, while holding no lock. */
void tp_core_start(void);

#endif /* TP_REGISTRY_H */
