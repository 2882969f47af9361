/* SPDX-License-Identifier: MIT */
#ifndef FIRE_H
#define FIRE_H

/* Fires each event of each header; written by tests/kernel/firing.py. */
void fire_all(void);

/* A string that is passed to a tracepoint. */
const char *fire_string(const char *text);

#endif /* FIRE_H */
