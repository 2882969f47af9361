/* SPDX-License-Identifier: MIT */
#include "client/hist_row.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SORT_KEYS 2

typedef unsigned long long number;

/* ---- Keys ---- */

static bool put(struct lines *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool put(struct lines *to, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	const int len = vasprintf(&text, format, args);
	va_end(args);
	const bool good = len >= 0 && lines_add(to, text, (size_t)len);
	if (len >= 0)
		free(text);
	return good;
}

static const char *value_text(const struct json *key)
{
	const struct json *value = json_member(key, "value");

	return value && value->text ? value->text : "";
}

/* The function, if it is known; offset: and how far from its begin. */
static bool put_address(struct lines *to, const struct json *key, number address, bool offset)
{
	const char *symbol = json_text(key, "symbol"), *file = json_text(key, "file");

	if (!*symbol && *file)
		return put(to, "%s(+0x%llx)", file, (number)json_uint64(key, "offset"));
	if (!*symbol)
		return put(to, "0x%llx", address);
	if (!offset)
		return put(to, "%s", symbol);
	return put(to, "%s+0x%llx", symbol, (number)json_uint64(key, "offset"));
}

/* The kernel rounds up: 3 stands for 5 to 8. */
static bool put_power(struct lines *to, number exponent)
{
	if (exponent == 0 || exponent > 64)
		return put(to, exponent ? "2^%llu" : "0 .. 1", exponent);
	const number to_half = 1ull << (exponent - 1);
	return exponent == 1 ? put(to, "2") : put(to, "%llu .. %llu", to_half + 1, exponent == 64 ? ~0ull : 2 * to_half);
}

static bool put_bucket(struct lines *to, const char *begin, number size)
{
	return size < 2 ? put(to, "%s", begin) : put(to, "%s .. %lld", begin, (long long)(strtoull(begin, NULL, 10) + size - 1));
}

bool hist_stack_put(struct lines *to, const struct json *key)
{
	bool good = true;

	for (const struct json *call = json_first(key, "value"); call && good; call = call->next)
		good = put(to, "    ") && put_address(to, call, json_uint64(call, "address"), true) && put(to, "\n");
	return good;
}

bool hist_key_put(struct lines *to, const struct json *item, const struct json *key)
{
	const struct json *value = json_member(key, "value");
	const char *modifier = json_text(item, "modifier"), *text = value_text(key), *name = json_text(key, "name");
	const number n = strtoull(text, NULL, 10);

	if (value && value->kind == JSON_ARRAY)
		return value->first ? put_address(to, value->first, json_uint64(value->first, "address"), false) : put(to, "(no calls)");
	if (value && value->kind == JSON_STRING)
		return put(to, "%s", text);
	if (strcmp(modifier, "hex") == 0)
		return put(to, "0x%llx", (number)(*text == '-' ? (uint64_t)strtoll(text, NULL, 10) : n));
	if (strcmp(modifier, "sym") == 0 || strcmp(modifier, "sym-offset") == 0)
		return put_address(to, key, n, modifier[3] != '\0');
	if (strcmp(modifier, "log2") == 0)
		return put_power(to, n);
	if (strcmp(modifier, "buckets") == 0)
		return put_bucket(to, text, json_uint64(item, "size"));
	if (strcmp(modifier, "execname") == 0)
		name = json_text(key, "comm");
	return *name ? put(to, "%s (%s)", name, text) : put(to, "%s", text);
}

/* ---- Rows ---- */

static bool is_stack(const struct json *key)
{
	const struct json *value = json_member(key, "value");

	return value && value->kind == JSON_ARRAY;
}

/* What is shown of all keys. */
static char *whole_key(const struct json *hist, const struct json *entry)
{
	struct lines text = {.text = NULL};
	const struct json *item = json_first(hist, "keys");
	bool good = true;

	for (const struct json *key = json_first(entry, "keys"); key && good; key = key->next) {
		good = (is_stack(key) ? hist_stack_put(&text, key) : hist_key_put(&text, item, key)) && lines_add(&text, "\n", 1);
		item = item ? item->next : NULL;
	}
	if (good)
		return text.text ? text.text : strdup("");
	lines_free(&text);
	return NULL;
}

static void fill_in(struct hist_row *row, const struct json *entry)
{
	size_t i = 0;

	*row = (struct hist_row){.entry = entry, .hits = json_uint64(entry, "hitcount")};
	for (const struct json *value = json_first(entry, "values"); value && i < HIST_VALUES; value = value->next, i++) {
		const char *text = value->text ? value->text : "0";
		row->negative[i] = *text == '-';
		row->sums[i] = row->negative[i] ? strtoll(text, NULL, 10) : (int64_t)strtoull(text, NULL, 10);
	}
}

static bool add_entries(struct hist_rows *rows, const struct json *hist, bool of_several)
{
	for (const struct json *entry = json_first(hist, "entries"); entry; entry = entry->next) {
		struct hist_row *row = &rows->all[rows->nr++];
		fill_in(row, entry);
		row->key = of_several ? whole_key(hist, entry) : NULL;
		if (of_several && !row->key)
			return false;
	}
	return true;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct hist_row *)a)->key, ((const struct hist_row *)b)->key);
}

/* The entry with the larger of what onmax() has kept stands for all. */
static uint64_t tracked(const struct hist_row *row)
{
	return json_uint64(json_first(row->entry, "tracked"), "max");
}

static void join(struct hist_rows *rows)
{
	size_t kept = 0;

	qsort(rows->all, rows->nr, sizeof(*rows->all), compare_keys);
	for (size_t i = 0; i < rows->nr; i++) {
		struct hist_row *row = &rows->all[i], *into = kept ? &rows->all[kept - 1] : row;
		if (!kept || compare_keys(into, row) != 0) {
			rows->all[kept++] = *row;
			continue;
		}
		if (tracked(row) > tracked(into))
			into->entry = row->entry;
		into->hits += row->hits;
		for (size_t v = 0; v < HIST_VALUES; v++) {
			into->sums[v] = (int64_t)((uint64_t)into->sums[v] + (uint64_t)row->sums[v]);
			into->negative[v] = (into->negative[v] || row->negative[v]) && into->sums[v] < 0;
		}
		free(row->key);
	}
	rows->nr = kept;
}

/* ---- The order ---- */

static int order_of(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* The most frequent first; then those of which more was added up. */
static int compare_hits(const void *a, const void *b)
{
	const struct hist_row *one = a, *other = b;
	const int order = order_of(other->hits, one->hits);

	if (order || one->sums[0] == other->sums[0])
		return order ? order : order_of(one->place, other->place);
	return one->sums[0] < other->sums[0] ? 1 : -1;
}

/* "sort=NAME.descending,NAME" of a histogram. */
struct sort_key {
	enum { BY_HITS, BY_VALUE, BY_KEY } by;
	size_t number; /* of the value, or the key */
	bool descending;
};

struct sort {
	struct sort_key keys[SORT_KEYS];
	size_t nr;
};

/* Its number among these; -1: it is not there. */
static int find_item(const struct json *item, const char *text, size_t len)
{
	for (int i = 0; item; item = item->next, i++) {
		const char *name = json_text(item, "name");
		const size_t wide = strlen(name);
		if (wide <= len && strncmp(name, text, wide) == 0 && (wide == len || text[wide] == '.'))
			return i;
	}
	return -1;
}

static void parse_sort(struct sort *sort, const struct json *hist)
{
	static const char descending[] = ".descending";
	const char *at = strstr(json_text(hist, "trigger"), ":sort=");

	sort->nr = 0;
	at = at ? at + strlen(":sort=") : "";
	while (*at && *at != ':' && *at != ' ' && sort->nr < SORT_KEYS) {
		const size_t len = strcspn(at, ",: ");
		const int value = find_item(json_first(hist, "values"), at, len), key = find_item(json_first(hist, "keys"), at, len);
		sort->keys[sort->nr++] = (struct sort_key){
			.by = value >= 0 ? BY_VALUE : key >= 0 ? BY_KEY : BY_HITS, .number = value >= 0 ? (size_t)value : key >= 0 ? (size_t)key : 0,
			.descending = len > strlen(descending) && strncmp(at + len - strlen(descending), descending, strlen(descending)) == 0};
		at += len + (at[len] == ',');
	}
}

static const struct json *key_at(const struct hist_row *row, size_t place)
{
	const struct json *key = json_first(row->entry, "keys");

	while (key && place-- > 0)
		key = key->next;
	return key;
}

static int compare_key(const struct json *one, const struct json *other)
{
	const struct json *a = json_member(one, "value"), *b = json_member(other, "value");
	const char *x = value_text(one), *y = value_text(other);

	if (!a || !b || a->kind != JSON_NUMBER || b->kind != JSON_NUMBER)
		return strcmp(x, y);
	if (*x == '-' || *y == '-')
		return strtoll(x, NULL, 10) < strtoll(y, NULL, 10) ? -1 : strtoll(x, NULL, 10) > strtoll(y, NULL, 10);
	return order_of(strtoull(x, NULL, 10), strtoull(y, NULL, 10));
}

static int compare_by(const struct sort_key *key, const struct hist_row *one, const struct hist_row *other)
{
	const size_t n = key->number;

	if (key->by == BY_KEY)
		return compare_key(key_at(one, n), key_at(other, n));
	if (key->by == BY_HITS || n >= HIST_VALUES)
		return order_of(one->hits, other->hits);
	if (one->negative[n] || other->negative[n])
		return one->sums[n] < other->sums[n] ? -1 : one->sums[n] > other->sums[n];
	return order_of((uint64_t)one->sums[n], (uint64_t)other->sums[n]);
}

static int compare_sorted(const void *a, const void *b, void *data)
{
	const struct sort *sort = data;

	for (size_t i = 0; i < sort->nr; i++) {
		const int order = compare_by(&sort->keys[i], a, b);
		if (order)
			return sort->keys[i].descending ? -order : order;
	}
	return compare_keys(a, b);
}

static void sort_rows(struct hist_rows *rows, const struct json *hist, bool of_several, bool by_process)
{
	struct sort sort;

	if (!by_process) {
		qsort(rows->all, rows->nr, sizeof(*rows->all), compare_hits);
	} else if (of_several) {
		parse_sort(&sort, hist);
		qsort_r(rows->all, rows->nr, sizeof(*rows->all), compare_sorted, &sort);
	}
}

/* ---- All ---- */

bool hist_rows_make(struct hist_rows *rows, const struct json *const *hists, size_t nr, bool by_process)
{
	size_t room = 1;
	bool good = true;

	*rows = (struct hist_rows){.all = NULL};
	for (size_t i = 0; i < nr; i++)
		room += json_count(json_first(hists[i], "entries"));
	rows->all = calloc(room, sizeof(*rows->all));
	if (!rows->all)
		return false;
	for (size_t i = 0; i < nr && good; i++) {
		const struct json *totals = json_member(hists[i], "totals");
		rows->hits += json_uint64(totals, "hits");
		rows->dropped += json_uint64(totals, "dropped");
		good = add_entries(rows, hists[i], nr > 1);
	}
	if (good && nr > 1)
		join(rows);
	for (size_t i = 0; i < rows->nr; i++)
		rows->all[i].place = i;
	if (good && nr)
		sort_rows(rows, hists[0], nr > 1, by_process);
	return good;
}

void hist_rows_free(struct hist_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		free(rows->all[i].key);
	free(rows->all);
	*rows = (struct hist_rows){.all = NULL};
}
