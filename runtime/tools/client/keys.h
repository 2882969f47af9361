/* SPDX-License-Identifier: MIT */
/* keys.h - keys that are pressed on the terminal of standard input, one by one and not shown. ^C, ^Z and others stay signals. */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>

/*
 * The terminal passes keys on as they come, if standard input is one, and this program is in its foreground. May be called again,
 * as after the program was stopped. Whoever has called it calls keys_end() before the end, also after a signal.
 */
void keys_begin(void);

/* The terminal is as it was before. */
void keys_end(void);

/* Readable when a key was pressed; -1: there is nothing to read from. */
int keys_fd(void);

/* The next one; '\0': none. Does not wait. */
char keys_next(void);

#endif /* KEYS_H */
