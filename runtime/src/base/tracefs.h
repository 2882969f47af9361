/* SPDX-License-Identifier: MIT */
/*
 * base/tracefs.h - where the kernel's trace buffers are. tp has it, too.
 */
#ifndef TP_TRACEFS_H
#define TP_TRACEFS_H

#include <stdbool.h>

struct tp_buffer;

#define TP_TRACEFS "/sys/kernel/tracing" /* the usual place */

/* Appends the directory of the top-level one. False: tracefs is mounted nowhere. Whether path has failed is for the caller to see. */
bool tp_find_tracefs(struct tp_buffer *path);

#endif /* TP_TRACEFS_H */
