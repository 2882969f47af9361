/* SPDX-License-Identifier: MIT */
/* kernel_events.h - which of the kernel's events are meant. */
#ifndef KERNEL_EVENTS_H
#define KERNEL_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/instance.h"

/* Zeros are none. */
struct kernel_events {
	char *text;         /* the kernel's list */
	const char **names; /* "SYSTEM:EVENT", those that are meant */
	size_t nr;
};

/* Patterns as -e has them, without filters. False, and a message: one of them is wrong, or matches nothing. */
bool kernel_events_find(struct kernel_events *events, const struct instance *instance, const char *patterns);
void kernel_events_free(struct kernel_events *events);

/* In the instance. False, and a message. */
bool kernel_events_enable(const struct kernel_events *events, const struct instance *instance);

/* A file of the event's in tracefs: "events/SYSTEM/EVENT/FILE". */
#define EVENT_PATH_SIZE 300
void kernel_event_path(char path[EVENT_PATH_SIZE], const char *name, const char *file);

#endif /* KERNEL_EVENTS_H */
