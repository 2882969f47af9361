/* SPDX-License-Identifier: MIT */
/*
 * count/key.h - values by which something is counted, or found: numbers and texts, one behind the other.
 */
#ifndef TP_COUNT_KEY_H
#define TP_COUNT_KEY_H

#include <stddef.h>
#include <stdint.h>

/* Of a key at most: three texts of 255 bytes, with their lengths. */
#define TP_COUNT_KEY_WORDS 99u

struct tp_count_key {
	uint32_t nr;
	uint64_t words[TP_COUNT_KEY_WORDS];
};

/* Bytes of a text that belong to a key. */
#define TP_COUNT_TEXT_BYTES 255

/* Puts a text behind what is in the key: the length that tells it from others, and so many bytes. */
void tp_count_key_add_text(struct tp_count_key *key, uint64_t length, const char *text, size_t size);

/* The same of its first TP_COUNT_TEXT_BYTES bytes. text may be NULL: it is empty. */
static inline void tp_count_key_add(struct tp_count_key *key, const char *text, size_t len)
{
	const size_t size = !text ? 0 : len < TP_COUNT_TEXT_BYTES ? len : TP_COUNT_TEXT_BYTES;

	tp_count_key_add_text(key, size, text, size);
}

/* Its upper bits are the good ones. */
static inline uint64_t tp_count_hash(const struct tp_count_key *key)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < key->nr; i++) {
		hash ^= hash >> 32;
		hash = (hash ^ key->words[i]) * 0x9e3779b97f4a7c15u;
	}
	return hash;
}

#endif /* TP_COUNT_KEY_H */
