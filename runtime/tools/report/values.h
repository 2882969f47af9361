/* SPDX-License-Identifier: MIT */
/* values.h - a record as its fields, "name=value" with blanks between. */
#ifndef VALUES_H
#define VALUES_H

#include <stdint.h>

#include "read/fields.h"
#include "report/line.h"

/* The record has as many bytes as its format says at least. */
void values_add(struct line *line, const struct fields *fields, const unsigned char *record, uint32_t size);

/* A floating-point number with as few digits as tell it from any other; or "nan", "inf", "-inf". */
#define VALUE_REAL_TEXT 64
void value_real_text(const struct field *field, const unsigned char *at, char text[VALUE_REAL_TEXT]);

#endif /* VALUES_H */
