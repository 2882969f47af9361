/* SPDX-License-Identifier: MIT */
/*
 * filter/program.h - a compiled expression: a step for each predicate, in their order. A step says where to go on, by
 * its outcome: so what can't change the result any more is not looked at.
 */
#ifndef TP_FILTER_PROGRAM_H
#define TP_FILTER_PROGRAM_H

#include <stdint.h>

#include "filter/filter.h"
#include "filter/text.h"

enum tp_filter_test {
	TP_TEST_FALSE,      /* can't be */
	TP_TEST_RANGE,      /* number - base <= span */
	TP_TEST_BITS,       /* number & base */
	TP_TEST_IN_SET,     /* the set has the number */
	TP_TEST_TEXT,       /* the text matches */
	TP_TEST_SET_EQUALS, /* the record's set is the step's */
	TP_TEST_SET_MEETS,  /* they have a member in common */
};

/* Where the value that is looked at comes from. */
enum tp_filter_source {
	TP_SOURCE_S8, /* numbers in the record */
	TP_SOURCE_U8,
	TP_SOURCE_S16,
	TP_SOURCE_U16,
	TP_SOURCE_S32,
	TP_SOURCE_U32,
	TP_SOURCE_64,
	TP_SOURCE_CPU,      /* the processor's number */
	TP_SOURCE_ARRAY,    /* the record's size bytes at offset */
	TP_SOURCE_DATA_LOC, /* those that the word at offset says */
	TP_SOURCE_REL_LOC,
	TP_SOURCE_COMM,     /* the thread's name */
};

struct tp_filter_step {
	enum tp_filter_test test;
	enum tp_filter_source source;
	enum tp_text_match match;
	uint32_t offset;
	uint32_t size;       /* of TP_SOURCE_ARRAY */
	uint32_t length;     /* of the text, or of the set in bytes */
	uint32_t yes, no;    /* the next step; nr_steps: accepted; nr_steps + 1: refused. Always a later one */
	uint64_t base, span;
	const uint8_t *bytes; /* the text, or the set */
};

struct tp_filter_program {
	uint32_t nr_steps;
	struct tp_filter_step steps[]; /* behind them are their bytes */
};

#endif /* TP_FILTER_PROGRAM_H */
