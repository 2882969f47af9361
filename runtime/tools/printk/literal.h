/* SPDX-License-Identifier: MIT */
/* literal.h - C's constants: numbers, characters, texts. */
#ifndef PRINTK_LITERAL_H
#define PRINTK_LITERAL_H

#include "printk/value.h"
#include "read/c_text.h"

/* One or more texts in quotes, which begin at the span's; it moves on behind them. For free(); NULL: it is none. */
char *literal_text(struct span *at, size_t *len);

/* A number, or a character in quotes; a long has so many bytes. False: it is none. */
bool literal_number(struct span *at, struct value *value, uint32_t word);

#endif /* PRINTK_LITERAL_H */
