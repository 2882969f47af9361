/* SPDX-License-Identifier: MIT */
/*
 * base/utf8.h - characters in text that may be anything.
 */
#ifndef TP_UTF8_H
#define TP_UTF8_H

#include <stddef.h>

/* Bytes of the character at text; 0 where that is none of UTF-8. */
size_t tp_utf8_char(const char *text);

#endif /* TP_UTF8_H */
