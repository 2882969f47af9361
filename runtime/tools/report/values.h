/* SPDX-License-Identifier: MIT */
/* values.h - a record as its fields, "name=value" with blanks between. */
#ifndef VALUES_H
#define VALUES_H

#include <stdint.h>

#include "read/fields.h"
#include "report/line.h"

/* The record has as many bytes as its format says at least. */
void values_add(struct line *line, const struct fields *fields, const unsigned char *record, uint32_t size);

/* Of a field of such a kind, at its place. An unsigned number is as it is in memory. */
long long value_integer(const struct field *field, const unsigned char *at);
double value_real(const struct field *field, const unsigned char *at);

#endif /* VALUES_H */
