/* SPDX-License-Identifier: MIT */
/*
 * base/nearest.c - see nearest.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

#define LENGTH_MAX 64 /* of words that are compared */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Damerau's, where two letters that have changed places are one mistake. */
static size_t distance(const char *a, size_t len_a, const char *b)
{
	size_t rows[3][LENGTH_MAX + 1] = {{0}};
	const size_t len_b = strlen(b);

	if (len_a > LENGTH_MAX || len_b > LENGTH_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= len_b; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= len_a; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= len_b; j++) {
			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[len_a % 3][len_b];
}

struct tp_nearest tp_nearest_to(const char *word, size_t len)
{
	/* No nearer than that is near; one letter is as near as another. */
	return (struct tp_nearest){.word = word, .len = len, .distance = (len < 3 ? len - (len > 0) : len / 3) + 1};
}

void tp_nearest_offer(struct tp_nearest *nearest, const char *name)
{
	const size_t apart = distance(nearest->word, nearest->len, name);

	if (apart >= nearest->distance)
		return;
	nearest->distance = apart;
	snprintf(nearest->name, sizeof(nearest->name), "%s", name);
}

const char *tp_nearest_hint(struct tp_nearest *nearest, const char *before, const char *after)
{
	if (*nearest->name)
		snprintf(nearest->hint, sizeof(nearest->hint), "%sdid you mean '%s'?%s", before, nearest->name, after);
	return nearest->hint;
}
