/* SPDX-License-Identifier: MIT */
/*
 * events/pattern.h - lists of globs, and rules, as tp_enable() and TP_OUTPUT take them.
 */
#ifndef TP_PATTERN_H
#define TP_PATTERN_H

#include <stdbool.h>

struct tp_pattern;

/* NULL with *error set to -EINVAL or -ENOMEM; else *error is 0. */
struct tp_pattern *tp_pattern_new(const char *text, int *error);
void tp_pattern_free(struct tp_pattern *pattern);

/* As tp_pattern_new() got it. */
const char *tp_pattern_text(const struct tp_pattern *pattern);

/* full_name is "system:event". */
bool tp_pattern_matches(const struct tp_pattern *pattern, const char *full_name);
bool tp_pattern_same(const struct tp_pattern *a, const struct tp_pattern *b);

/* Calls fct for each glob of the list in turn, without its "!". */
void tp_pattern_each(const struct tp_pattern *pattern, void (*fct)(const char *glob, void *data), void *data);

/* "PATTERNS if FILTER" becomes PATTERNS; the filter, or NULL. */
#define TP_FILTER_WORD "if"
char *tp_pattern_take_filter(char *text);

/* ---- Where a rule ends, "PATTERNS" or "PATTERNS if FILTER", of several in a text ---- */

#define TP_BLANKS " \t\n"

/* Blanks around a text are no part of it. */
char *tp_trim(char *text);

/*
 * Cuts the text where an output, or a rule, ends, and returns what follows; NULL: it was the last. rules: the text is
 * rules; else an output, whose rules follow the first "<-". What is in quotes in a filter is a part of it.
 */
char *tp_cut_at_semicolon(char *text, bool rules);
char *tp_cut_at_arrow(char *text, bool rules);

#endif /* TP_PATTERN_H */
