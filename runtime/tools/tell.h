/* SPDX-License-Identifier: MIT */
/* tell.h - what the tool says to a person: a line on stderr each. */
#ifndef TELL_H
#define TELL_H

#include <stdbool.h>

/* Returns false, as it is mostly why something has failed. What is no plain character is shown as a question mark. */
bool tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool tell_no_memory(void);

/* From now on nothing is said; or it is again. */
void tell_nothing(bool silent);

#endif /* TELL_H */
