/* SPDX-License-Identifier: MIT */
/*
 * count/key.c - see key.h.
 */
#include <string.h>

#include "count/key.h"

/* Put together in a register: a load of what was just stored in parts would wait until all of it is in the cache. */
static uint64_t last_word(const char *from, size_t size)
{
	uint64_t word = 0;
	uint32_t four;
	uint16_t two;

	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
		memcpy(&word, from, size);
		return word;
	}
	if (size & 1)
		word = (uint8_t)from[size - 1];
	if (size & 2) {
		memcpy(&two, from + (size & 4), sizeof(two));
		word = word << 16 | two;
	}
	if (size & 4) {
		memcpy(&four, from, sizeof(four));
		word = word << 32 | four;
	}
	return word;
}

void tp_count_key_add_text(struct tp_count_key *key, uint64_t length, const char *text, size_t size)
{
	uint64_t *to = &key->words[key->nr];

	*to++ = length;
	for (; size >= sizeof(*to); size -= sizeof(*to), text += sizeof(*to))
		memcpy(to++, text, sizeof(*to));
	if (size)
		*to++ = last_word(text, size);
	key->nr = (uint32_t)(to - key->words);
}
