/* SPDX-License-Identifier: MIT */
/* sum.h - the histograms of several processes as one, in the kernel's text: made of the texts that they report. */
#ifndef SUM_H
#define SUM_H

#include <stdbool.h>
#include <stddef.h>

#include "client/lines.h"

#define SUM_NUMBERS 16

struct sum_row {
	char *key; /* what stands between { and } */
	double numbers[SUM_NUMBERS];
};

/* Zeros are none. */
struct sum {
	struct sum_row *rows;
	size_t nr;
	char *names[SUM_NUMBERS]; /* of the numbers, in the order in which they came */
	size_t nr_names;
};

/* Of a histogram, what is no sum in it, such as a mean or a percentage, is left out. False: no memory. */
bool sum_add(struct sum *sum, const char *text);

/* Adds the sum to a text, by the first of the numbers as the kernel sorts. */
bool sum_put(struct sum *sum, struct lines *text);

void sum_free(struct sum *sum);

#endif /* SUM_H */
