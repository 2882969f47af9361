/* SPDX-License-Identifier: MIT */
/*
 * filter/number.h - numbers as the kernel's kstrtoull() and kstrtoll() with base 0 read them, and as a field of some
 * width holds them.
 */
#ifndef TP_FILTER_NUMBER_H
#define TP_FILTER_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_NUMBER_MAX 23 /* bytes of its text */

/* The whole text is the number: decimal, 0x..., 0... (octal); with "-" only where it is signed. False: it is none. */
bool tp_number_parse(const char *text, size_t len, bool is_signed, uint64_t *value);

/* The lowest bytes of the value (1, 2, 4 or 8), widened again. */
uint64_t tp_number_truncate(uint64_t value, uint32_t bytes, bool is_signed);

#endif /* TP_FILTER_NUMBER_H */
