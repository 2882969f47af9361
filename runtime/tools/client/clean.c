/* SPDX-License-Identifier: MIT */
#include "client/clean.h"

#include <string.h>

#include "base/text.h"

void clean_bytes(char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		const size_t shown = text[i] == '\t' ? 1 : tp_printable_char(text + i, len - i);
		if (!shown)
			text[i] = '?';
		i += shown ? shown : 1;
	}
}

char *clean(char *text)
{
	clean_bytes(text, strlen(text));
	return text;
}
