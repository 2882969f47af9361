/* SPDX-License-Identifier: MIT */
/*
 * filter/program.h - a compiled expression: a step for each predicate, in their order. A step says where to go on, by
 * its outcome: so what can't change the result any more is not looked at.
 */
#ifndef TP_FILTER_PROGRAM_H
#define TP_FILTER_PROGRAM_H

#include <stdint.h>

#include "filter/filter.h"
#include "filter/operand.h"
#include "filter/value.h"

enum tp_filter_test {
	TP_TEST_FALSE,      /* can't be */
	TP_TEST_RANGE,      /* a number of the record is in a range */
	TP_TEST_BITS,       /* it has some of these bits */
	TP_TEST_FLOAT,      /* a float or a double is in a range, by tp_float_order() */
	TP_TEST_LONG_DOUBLE,
	TP_TEST_CPU,        /* the processor's number is in a range */
	TP_TEST_IN_SET,     /* the set has the number */
	TP_TEST_TEXT,       /* the text matches */
	TP_TEST_SET_EQUALS, /* the record's set is the step's */
	TP_TEST_SET_MEETS,  /* they have a member in common */
};

/* What a long double may be to the step's number; it may be none of these. */
enum tp_filter_order {
	TP_ORDER_LESS = 1,
	TP_ORDER_EQUAL = 2,
	TP_ORDER_GREATER = 4,
};

/*
 * Numbers of all widths and signs are compared alike, each as high in 64 bits as it goes. What is subtracted, and compared
 * with, stands as high. In a field's width numbers wrap around, so that a range may begin below 0.
 */
struct tp_filter_step {
	struct tp_value value;
	uint8_t test;        /* enum tp_filter_test */
	uint8_t match;       /* enum tp_text_match; of TP_TEST_LONG_DOUBLE: enum tp_filter_order, any of these */
	uint32_t yes, no;    /* the next step; nr_steps: accepted; nr_steps + 1: refused. Always a later one */
	uint64_t base, span; /* of ranges: number - base <= span. Of TP_TEST_BITS: number & base */
	const uint8_t *bytes; /* the text, the set, or the long double */
	uint32_t length;     /* of these bytes */
	uint64_t field;      /* what it reads: the bit of the event's own field, see tp_filter_ask(); 0: another */
};

struct tp_filter_program {
	bool reads_header; /* of a record, the common one */
	uint32_t nr_steps;
	struct tp_filter_step steps[]; /* behind them are their bytes */
};

#endif /* TP_FILTER_PROGRAM_H */
