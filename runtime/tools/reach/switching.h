/* SPDX-License-Identifier: MIT */
/* switching.h - "tp enable" and "tp disable", which differ by a word. */
#ifndef SWITCHING_H
#define SWITCHING_H

#include "options.h"

/* word: the request. Returns the status that tp exits with. */
int switch_events(const struct tp_args *args, const char *word);

#endif /* SWITCHING_H */
