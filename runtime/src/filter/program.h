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
	TP_TEST_RANGE,      /* a number of the record is in a range */
	TP_TEST_BITS,       /* it has some of these bits */
	TP_TEST_CPU,        /* the processor's number is in a range */
	TP_TEST_IN_SET,     /* the set has the number */
	TP_TEST_TEXT,       /* the text matches */
	TP_TEST_SET_EQUALS, /* the record's set is the step's */
	TP_TEST_SET_MEETS,  /* they have a member in common */
};

/* Where the value that is looked at comes from. */
enum tp_filter_source {
	TP_SOURCE_NUMBER,   /* the record's size bytes at offset: 1, 2, 4 or 8 */
	TP_SOURCE_CPU,      /* the processor's number */
	TP_SOURCE_ARRAY,    /* the record's size bytes at offset */
	TP_SOURCE_DATA_LOC, /* those that the word at offset says */
	TP_SOURCE_REL_LOC,
	TP_SOURCE_COMM,     /* the thread's name */
};

/*
 * Numbers of all widths and signs are compared alike. 8 bytes of the record, in which the field is, are shifted so that it is
 * highest, and the rest is masked out. What is subtracted, and compared with, stands as high. In a field's width
 * numbers wrap around, so that a range may begin below 0.
 */
struct tp_filter_step {
	uint8_t test;        /* enum tp_filter_test */
	uint8_t source;      /* enum tp_filter_source */
	uint8_t match;       /* enum tp_text_match */
	uint8_t shift;       /* to the left, of the 8 bytes at load */
	bool is_signed;
	uint32_t load;
	uint32_t yes, no;    /* the next step; nr_steps: accepted; nr_steps + 1: refused. Always a later one */
	uint64_t mask;       /* of the bits that are the number's */
	uint64_t base, span; /* of TP_TEST_RANGE: number - base <= span. Of TP_TEST_BITS: number & base */
	const uint8_t *bytes; /* the text, or the set */
	uint32_t length;     /* of these bytes */
	uint32_t offset, size;
};

struct tp_filter_program {
	uint32_t nr_steps;
	struct tp_filter_step steps[]; /* behind them are their bytes */
};

#endif /* TP_FILTER_PROGRAM_H */
