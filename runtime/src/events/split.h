/* SPDX-License-Identifier: MIT */
/*
 * events/split.h - where a rule ends, "PATTERNS" or "PATTERNS if FILTER", of several in a text.
 */
#ifndef TP_SPLIT_H
#define TP_SPLIT_H

#include <stdbool.h>

#define TP_BLANKS " \t"

/* Blanks around a text are no part of it. */
char *tp_trim(char *text);

/*
 * Cuts the text where an output, or a rule, ends, and returns what follows; NULL: it was the last. rules: the text is
 * rules; else an output, whose rules follow the first "<-". What is in quotes in a filter is a part of it.
 */
char *tp_cut_at_semicolon(char *text, bool rules);
char *tp_cut_at_arrow(char *text, bool rules);

#endif /* TP_SPLIT_H */
