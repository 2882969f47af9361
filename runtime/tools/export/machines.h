/* SPDX-License-Identifier: MIT */
/* machines.h - which traces are of one machine, so that equal process ids are one process. */
#ifndef MACHINES_H
#define MACHINES_H

#include "read/traces.h"

/* The machine of each trace, from 1 on, as its host is first named; for free(). NULL, and a message: there is no memory. */
uint32_t *machines_of(const struct traces *traces);

#endif /* MACHINES_H */
