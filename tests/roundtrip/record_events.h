/* SPDX-License-Identifier: MIT */
#ifndef RECORD_EVENTS_H
#define RECORD_EVENTS_H

/* Hits tracepoints; the program's. */
void fire_all(void);

/* A string that is passed to a tracepoint, and that its record points to. */
const char *fire_string(const char *text);

#endif /* RECORD_EVENTS_H */
