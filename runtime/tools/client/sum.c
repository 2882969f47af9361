/* SPDX-License-Identifier: MIT */
#include "client/sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HITS "hitcount"

/* ---- Rows ---- */

/* Rows of one key are put together when all are there. NULL: no memory. */
static struct sum_row *new_row(struct sum *sum, const char *key, size_t len)
{
	/* Twice as many whenever their number is a power of two. */
	if ((sum->nr & (sum->nr - 1)) == 0) {
		struct sum_row *rows = reallocarray(sum->rows, sum->nr ? 2 * sum->nr : 1, sizeof(*rows));
		if (!rows)
			return NULL;
		sum->rows = rows;
	}
	struct sum_row *row = &sum->rows[sum->nr];
	*row = (struct sum_row){.key = strndup(key, len)};
	sum->nr += row->key != NULL;
	return row->key ? row : NULL;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct sum_row *)a)->key, ((const struct sum_row *)b)->key);
}

static void join_rows(struct sum *sum)
{
	size_t kept = 0;

	if (sum->nr)
		qsort(sum->rows, sum->nr, sizeof(*sum->rows), compare_keys);
	for (size_t i = 0; i < sum->nr; i++) {
		struct sum_row *row = &sum->rows[i];
		if (!kept || compare_keys(&sum->rows[kept - 1], row) != 0) {
			sum->rows[kept++] = *row;
			continue;
		}
		for (size_t n = 0; n < SUM_NUMBERS; n++)
			sum->rows[kept - 1].numbers[n] += row->numbers[n];
		free(row->key);
	}
	sum->nr = kept;
}

/* Of a name; -1: there is no room for one more. */
static int column(struct sum *sum, const char *name, size_t len)
{
	for (size_t i = 0; i < sum->nr_names; i++) {
		if (strncmp(sum->names[i], name, len) == 0 && !sum->names[i][len])
			return (int)i;
	}
	char *copy = sum->nr_names < SUM_NUMBERS ? strndup(name, len) : NULL;
	if (!copy)
		return -1;
	sum->names[sum->nr_names] = copy;
	return (int)sum->nr_names++;
}

/* ---- Entries ---- */

/* "  name:   12  other:   5": a number alone can be added up. */
static void add_values(struct sum *sum, struct sum_row *row, const char *at, const char *end)
{
	while (at < end) {
		at += strspn(at, " ");
		const char *colon = memchr(at, ':', (size_t)(end - at));
		char *after;
		if (!colon)
			return;
		const double number = strtod(colon + 1, &after);
		/* "n (%)" is a part of this process's. */
		const bool alone = colon > at && colon[-1] != ')' && after > colon + 1 && after <= end && (after == end || *after == ' ' || *after == '\n');
		const int i = alone ? column(sum, at, (size_t)(colon - at)) : -1;
		if (i >= 0)
			row->numbers[i] += number;
		for (at = alone ? after : colon + 1; at < end && !(at[0] == ' ' && at[1] == ' ');)
			at++;
	}
}

/*
 * "{ key } hitcount: 12 ...", in several lines where there is a stack in the key. A string in the key may have anything in it,
 * so the last one of the line counts. Returns where the entry ends; NULL: no memory.
 */
static const char *add_entry(struct sum *sum, const char *entry)
{
	static const char mark[] = "} " HITS ":";
	const char *values = strstr(entry, mark);

	if (!values)
		return entry + strlen(entry);
	const char *end = values + strcspn(values, "\n");
	for (const char *at = values; (at = memmem(at, (size_t)(end - at), mark, strlen(mark))) != NULL; at++)
		values = at;
	values += strlen("} ");
	struct sum_row *row = new_row(sum, entry, (size_t)(values - 1 - entry));
	if (row)
		add_values(sum, row, values, end);
	return row ? end : NULL;
}

bool sum_add(struct sum *sum, const char *text)
{
	for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
		end = line[0] == '{' ? add_entry(sum, line) : line + strcspn(line, "\n");
		if (!end)
			return false;
	}
	return true;
}

/* ---- The text ---- */

static int compare(const void *a, const void *b)
{
	const struct sum_row *one = a, *other = b;

	if (one->numbers[0] != other->numbers[0])
		return one->numbers[0] < other->numbers[0] ? -1 : 1;
	return strcmp(one->key, other->key);
}

/* What asprintf() has made, and returned. */
static bool put(struct lines *text, char **line, int len)
{
	const bool good = len >= 0 && lines_add(text, *line, (size_t)len);

	if (len >= 0)
		free(*line);
	return good;
}

static bool put_row(const struct sum *sum, const struct sum_row *row, struct lines *text)
{
	char *line;
	bool good = lines_add(text, row->key, strlen(row->key));

	for (size_t i = 0; good && i < sum->nr_names; i++)
		good = put(text, &line, asprintf(&line, "%s%s: %10.0f", i ? "  " : " ", sum->names[i], row->numbers[i]));
	return good && lines_add(text, "\n", 1);
}

bool sum_put(struct sum *sum, struct lines *text)
{
	double hits = 0;
	char *line;
	bool good = true;

	join_rows(sum);
	if (sum->nr)
		qsort(sum->rows, sum->nr, sizeof(*sum->rows), compare);
	for (size_t i = 0; good && i < sum->nr; i++) {
		good = put_row(sum, &sum->rows[i], text);
		hits += sum->rows[i].numbers[0];
	}
	return good && put(text, &line, asprintf(&line, "\nTotals:\n    Hits: %.0f\n    Entries: %zu\n", hits, sum->nr));
}

void sum_free(struct sum *sum)
{
	for (size_t i = 0; i < sum->nr; i++)
		free(sum->rows[i].key);
	for (size_t i = 0; i < sum->nr_names; i++)
		free(sum->names[i]);
	free(sum->rows);
	*sum = (struct sum){.rows = NULL};
}
