/* SPDX-License-Identifier: MIT */
/* interrupt.h - ^C and its like: the report ends behind a whole line. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT, SIGTERM and SIGHUP are only noted; they interrupt what waits. */
void interrupt_begin(void);

/* Whether one has come. */
bool interrupt_came(void);

/* The signals do again what they did; one that has come does so now, and may end the process. */
void interrupt_end(void);

/* The same, but one that has come has done all that it was for. */
void interrupt_forget(void);

#endif /* INTERRUPT_H */
