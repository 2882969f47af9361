/* SPDX-License-Identifier: MIT */
#include "client/clean.h"

#include <string.h>

void clean_bytes(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)text[i];
		/* U+0080 to U+009F, which some terminals obey as they do the escape character. */
		if (c == 0xc2 && i + 1 < len && (unsigned char)text[i + 1] >= 0x80 && (unsigned char)text[i + 1] < 0xa0)
			text[i] = text[i + 1] = '?';
		else if ((c < ' ' && c != '\t') || c == 0x7f)
			text[i] = '?';
	}
}

char *clean(char *text)
{
	clean_bytes(text, strlen(text));
	return text;
}
