/* SPDX-License-Identifier: MIT */
#include "client/lines.h"

#include <stdlib.h>
#include <string.h>

bool lines_add(struct lines *text, const char *more, size_t len)
{
	if (text->len + len >= text->size) {
		const size_t size = 2 * (text->len + len) + 1024;
		char *grown = size <= LINES_MAX ? realloc(text->text, size) : NULL;
		if (!grown)
			return false;
		text->text = grown;
		text->size = size;
	}
	memcpy(text->text + text->len, more, len);
	text->len += len;
	text->text[text->len] = '\0';
	return true;
}

void lines_free(struct lines *text)
{
	free(text->text);
	*text = (struct lines){.text = NULL};
}
