/* SPDX-License-Identifier: MIT */
/*
 * count/key.c - see key.h.
 */
#include <string.h>

#include "count/key.h"

void tp_count_key_add_text(struct tp_count_key *key, const char *at, size_t len)
{
	uint64_t *words = &key->words[key->nr];

	len = !at ? 0 : len < TP_COUNT_TEXT_BYTES ? len : TP_COUNT_TEXT_BYTES;
	words[0] = len;
	if (len) {
		words[(len + 7) / 8] = 0;
		memcpy(words + 1, at, len);
	}
	key->nr += 1 + (uint32_t)(len + 7) / 8;
}
