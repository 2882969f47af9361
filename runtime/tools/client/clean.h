/* SPDX-License-Identifier: MIT */
/* clean.h - text from other processes, as a terminal may get it. */
#ifndef CLEAN_H
#define CLEAN_H

#include <stddef.h>

/* Each byte of what a terminal would not just show becomes a question mark; a tab stays. See tp_printable_char(). Returns text. */
char *clean(char *text);

/* The same for len bytes, which may have NULs in them. */
void clean_bytes(char *text, size_t len);

#endif /* CLEAN_H */
