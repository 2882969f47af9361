/* SPDX-License-Identifier: MIT */
/* modules.h - what the program and its modules call in each other. */
#ifndef MODULES_H
#define MODULES_H

#include "torture.h"

#pragma GCC visibility push(default)

/* Of the program. */
bool torture_guest_begins_by_itself(void);

/* Of visitor.c. */
void visitor_hit(enum point point, unsigned long a, unsigned long b);

/* Of guest.c: begin and end register and remove, and are left to constructor and destructor otherwise. */
int guest_begin(void);
int guest_end(void);
/* What is registered stays so: the runtime has to remove it. */
void guest_forget(void);
/* The calls with the token. */
void guest_listen_for(unsigned long token);
unsigned long guest_own(void);

#pragma GCC visibility pop

#endif /* MODULES_H */
