/* SPDX-License-Identifier: MIT */
/*
 * test_characters.c - which characters stand in texts as they are. Many bytes are looked at at once: so each byte is tried at each place.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "util.h"

#define LONGEST 70

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* In memory of its own length, so that a sanitizer sees what is read beyond. */
static size_t plain_len_with(size_t len, size_t at, unsigned char c)
{
	char *text = malloc(len ? len : 1);

	ck_assert_ptr_nonnull(text);
	memset(text, '~', len);
	if (at < len)
		text[at] = (char)c;
	const size_t plain = tp_plain_len(text, len);
	free(text);
	return plain;
}

TEST(each_byte_at_each_place)
{
	for (size_t len = 0; len < LONGEST; len++) {
		ck_assert_uint_eq(plain_len_with(len, len, 0), len);
		for (size_t at = 0; at < len; at++) {
			for (unsigned int c = 0; c < 256; c++)
				ck_assert_uint_eq(plain_len_with(len, at, (unsigned char)c), is_plain((unsigned char)c) ? len : at);
		}
	}
}

TEST(the_first_counts)
{
	for (size_t at = 0; at < LONGEST; at++) {
		char text[LONGEST];
		memset(text, ' ', sizeof(text));
		for (size_t i = at; i < sizeof(text); i += 7)
			text[i] = '\n';
		ck_assert_uint_eq(tp_plain_len(text, sizeof(text)), at);
	}
}

static void check_json(const char *text, const char *json)
{
	struct tp_buffer buffer = {.text = NULL};

	tp_json_string(&buffer, text);
	ck_assert_str_eq(buffer.text, json);
	tp_buffer_free(&buffer);
}

TEST(json)
{
	check_json("", "\"\"");
	check_json("a text that is longer than those that are looked at at once", "\"a text that is longer than those that are looked at at once\"");
	check_json("sixteen letters,\"then quotes\"", "\"sixteen letters,\\\"then quotes\\\"\"");
	check_json("\303\274 in front of what is plain \303\274", "\"\303\274 in front of what is plain \303\274\"");
	check_json("behind what is plain, a byte: \xff", "\"behind what is plain, a byte: \\\\xff\"");
}
