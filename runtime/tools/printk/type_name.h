/* SPDX-License-Identifier: MIT */
/* type_name.h - the types that an expression names, and those of fields. */
#ifndef PRINTK_TYPE_NAME_H
#define PRINTK_TYPE_NAME_H

#include "printk/value.h"
#include "read/c_text.h"
#include "read/fields.h"

/*
 * Takes "(TYPE)" from the text's front. False, and nothing is taken: it is no type, or one that is not known here. Names of
 * the program's own are known from fields.
 */
bool type_name_take(struct span *text, const struct fields *fields, struct type *type);

/* Of the field; of an array, a pointer to its elements. */
struct type type_of_field(const struct field *field);

#endif /* PRINTK_TYPE_NAME_H */
