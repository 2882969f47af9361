/* SPDX-License-Identifier: MIT */
/*
 * events/pattern.h - the lists of globs that tp_enable() and tp_disable() take.
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

#endif /* TP_PATTERN_H */
