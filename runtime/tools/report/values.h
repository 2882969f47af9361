/* SPDX-License-Identifier: MIT */
/* values.h - a record as its fields, "name=value" with blanks between. */
#ifndef VALUES_H
#define VALUES_H

#include <stdint.h>

#include "read/fields.h"
#include "report/line.h"

/* The record has as many bytes as its format says at least. */
void values_add(struct line *line, const struct fields *fields, const unsigned char *record, uint32_t size);

#endif /* VALUES_H */
