/* SPDX-License-Identifier: MIT */
#include "report/counts.h"

#include <stdlib.h>

#include "fail_msg.h"

#define SIZE_FIRST ((size_t)64)

void counts_hit(struct counts *counts, uint64_t time)
{
	if (!counts->hits++)
		counts->first = time;
	counts->last = time;
}

void counts_interval(struct counts *counts, uint64_t ns)
{
	if (!counts->intervals++ || ns < counts->min)
		counts->min = ns;
	if (ns > counts->max)
		counts->max = ns;
	counts->sum += (long double)ns;
}

void counts_lost(struct counts *counts, uint64_t lost)
{
	if (lost == TRACE_LOST_UNKNOWN)
		counts->lost_unknown = true;
	else
		counts->lost += lost;
}

/* ---- Places ---- */

static struct key *look(const struct keys *keys, uint64_t a, uint64_t b)
{
	size_t at = (size_t)((a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xff51afd7ed558ccd) >> 20) & (keys->size - 1);

	while (keys->table[at].index && (keys->table[at].a != a || keys->table[at].b != b))
		at = (at + 1) & (keys->size - 1);
	return &keys->table[at];
}

static bool grow(struct keys *keys)
{
	struct keys larger = {.size = keys->size ? 2 * keys->size : SIZE_FIRST, .nr = keys->nr};

	larger.table = calloc(larger.size, sizeof(*larger.table));
	if (!larger.table)
		return fail_no_memory();
	for (size_t i = 0; i < keys->size; i++) {
		const struct key *key = &keys->table[i];
		if (key->index)
			*look(&larger, key->a, key->b) = *key;
	}
	free(keys->table);
	*keys = larger;
	return true;
}

bool key_index(struct keys *keys, uint64_t a, uint64_t b, size_t *index, bool *is_new)
{
	if (keys->nr * 2 >= keys->size && !grow(keys))
		return false;
	struct key *key = look(keys, a, b);
	*is_new = !key->index;
	if (*is_new)
		*key = (struct key){a, b, ++keys->nr};
	*index = key->index - 1;
	return true;
}

void keys_free(struct keys *keys)
{
	free(keys->table);
	*keys = (struct keys){.table = NULL};
}

/* FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
uint64_t key_of_text(uint64_t before, const char *text, size_t len)
{
	uint64_t hash = before ? before : 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	return hash;
}
