/* SPDX-License-Identifier: MIT */
#include "nearest.h"

#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 64 /* of words that are compared */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Damerau's, where two letters that have changed places are one mistake. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][LENGTH_MAX + 1] = {{0}};
	const size_t len_a = strlen(a), len_b = strlen(b);

	if (len_a > LENGTH_MAX || len_b > LENGTH_MAX)
		return LENGTH_MAX;
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

struct nearest nearest_to(const char *word)
{
	const size_t len = strlen(word);

	return (struct nearest){.word = word, .distance = (len < 3 ? 1 : len / 3) + 1}; /* no nearer than that is near */
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	const size_t apart = distance(nearest->word, name);

	if (apart >= nearest->distance)
		return;
	nearest->distance = apart;
	snprintf(nearest->name, sizeof(nearest->name), "%s", name);
}

const char *nearest_hint(const struct nearest *nearest)
{
	static char hint[300];

	if (!*nearest->name)
		return "";
	snprintf(hint, sizeof(hint), " (did you mean '%s'?)", nearest->name);
	return hint;
}
