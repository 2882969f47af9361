/* SPDX-License-Identifier: MIT */
/*
 * base/utf8.c - see utf8.h.
 */
#include "base/utf8.h"

size_t tp_utf8_char(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t len = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < len; i++) { /* stops at a NUL */
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than it need be; half of a pair of UTF-16; beyond Unicode. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf0 && c[1] < 0x90) ||
	    (c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	return len;
}
