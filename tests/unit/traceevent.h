/* SPDX-License-Identifier: MIT */
/*
 * traceevent.h - libtraceevent, which reads records for trace-cmd, perf and
 * KernelShark, in a few words: its own header has another struct trace_seq
 * than ours.
 */
#ifndef TRACEEVENT_H
#define TRACEEVENT_H

#include <stdbool.h>
#include <stddef.h>

/* Loads it. False where it, or its header, is not installed. */
bool traceevent_load(void);

/* What it prints for a record of the event that has this format text; the caller frees it. NULL: it can't read that. */
char *traceevent_print(const char *system, const char *format, void *record, size_t size);

#endif /* TRACEEVENT_H */
