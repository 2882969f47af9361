/* SPDX-License-Identifier: MIT */
/* unreachable.h - why a process can't be reached, and what its user can do about that. */
#ifndef WHY_H
#define WHY_H

#include <stdbool.h>

#include "client/find.h"

/* found: the sockets that can be the process's. Both return false, after a message. */
bool tell_why_not(pid_t pid, const struct found *found);
bool tell_why_no_program(const char *program);

/*
 * The same about a process that has listened, and does not answer: a sentence, of a buffer that the next call uses
 * again.
 */
const char *why_silent(pid_t pid);

#endif /* WHY_H */
