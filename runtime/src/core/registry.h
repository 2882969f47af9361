/* SPDX-License-Identifier: MIT */
/*
 * core/registry.h - the names of registry.c, as module.c sees them. All under
 * tp_registry_lock, but for what makes and frees.
 */
#ifndef TP_REGISTRY_H
#define TP_REGISTRY_H

#include <stdbool.h>

#include <tp/tracepoint.h>

#include "core/probes.h"

/* What is allocated before, and freed after, the lock is held. */
struct tp_spare {
	struct tp_name *names; /* by their next */
	struct tp_probe_array *array;
};

bool tp_spare_name(struct tp_spare *spare, const char *text, const char *proto);
void tp_spare_free(struct tp_spare *spare);

/* The name; where it is new, the last that was made spare. */
struct tp_name *tp_name_get(const char *text, const char *proto, struct tp_spare *spare);
/* The one of those with another prototype that is defined; or, where there must be probes, one that has some. */
const struct tp_name *tp_name_find_other(const char *text, const char *proto, bool probes);
void tp_name_drop_if_unused(struct tp_name *name, struct tp_spare *spare);

/* What the core needs once a process; called wherever it is entered, while holding no lock. */
void tp_core_start(void);

#endif /* TP_REGISTRY_H */
