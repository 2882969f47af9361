/* SPDX-License-Identifier: MIT */
#ifndef FIRE_H
#define FIRE_H

/* Fires each event of each header; written by tests/kernel/firing.py. */
void fire_all(void);

#endif /* FIRE_H */
