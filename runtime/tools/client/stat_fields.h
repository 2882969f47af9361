/* SPDX-License-Identifier: MIT */
/* stat_fields.h - the values of fields that were counted: a line that sums up, and a table with bars. */
#ifndef STAT_FIELDS_H
#define STAT_FIELDS_H

#include "client/view.h"

/* How many there are, of all processes. */
size_t stat_fields_count(const struct statistics *statistics);

/* Puts as many as there is room for, and says how many are missing. False, and a message: no memory. */
bool stat_fields_put(const struct statistics *statistics, const struct area *area);

#endif /* STAT_FIELDS_H */
