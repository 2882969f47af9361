/* SPDX-License-Identifier: MIT */
/*
 * filter/text.h - comparing a text with that of an expression: as a whole, or by a glob.
 */
#ifndef TP_FILTER_TEXT_H
#define TP_FILTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_text_match {
	TP_TEXT_EQUAL,
	TP_TEXT_BEGINS,
	TP_TEXT_ENDS,
	TP_TEXT_CONTAINS,
	TP_TEXT_GLOB,
};

/* How a glob is best matched; *pattern and *len become what is to be looked for then. */
enum tp_text_match tp_text_match_of(const char **pattern, uint32_t *len);

bool tp_text_matches(enum tp_text_match how, const char *text, size_t len, const char *pattern, size_t pattern_len);

#endif /* TP_FILTER_TEXT_H */
