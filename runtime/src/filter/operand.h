/* SPDX-License-Identifier: MIT */
/*
 * filter/operand.h - what an expression compares a field with: numbers, texts, sets of processors. Numbers are those of the
 * kernel's kstrtoull() and kstrtoll() with base 0, as a field of some width holds them.
 */
#ifndef TP_FILTER_OPERAND_H
#define TP_FILTER_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_NUMBER_MAX 23 /* bytes of its text */

/* The whole text is the number: decimal, 0x..., 0... (octal); with "-" only where it is signed. False: it is none. */
bool tp_number_parse(const char *text, size_t len, bool is_signed, uint64_t *value);

/* The lowest bytes of the value (1, 2, 4 or 8), widened again. */
uint64_t tp_number_truncate(uint64_t value, uint32_t bytes, bool is_signed);

/* ---- Comparing a text with that of an expression: as a whole, or by a glob ---- */

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

/* ---- Sets of processors: lists as in cpuset(7), "0,2-4,8-15:2/4" ---- */

#define TP_CPUS_MAX 8192u /* as many as any kernel has */
#define TP_CPUS_BYTES (TP_CPUS_MAX / 8)

/* A bit for each; bit 0 is the lowest of the first byte. */
struct tp_cpus {
	uint8_t bytes[TP_CPUS_BYTES];
	uint32_t nr;   /* processors in it */
	uint32_t last; /* the highest */
};

/* False: no such list, no text, or a processor that the machine can't have. The set may be empty: "0-3:0/2". */
bool tp_cpus_parse(struct tp_cpus *cpus, const char *list, size_t len);

static inline bool tp_cpus_has(const uint8_t *bytes, uint32_t size, uint64_t cpu)
{
	return cpu / 8 < size && bytes[cpu / 8] & 1u << cpu % 8;
}

#endif /* TP_FILTER_OPERAND_H */
