/* SPDX-License-Identifier: MIT */
/* event_origin.c - of TSDL, only what sinks/ctf/describe/metadata.c writes. */
#include "read/event_origin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Behind the word, if a line of the event begins with it; the event's fields come last. */
static const char *find(const char *event, const char *word)
{
	const char *fields = strstr(event, "\n\tfields := ");
	const char *at = fields ? memmem(event, (size_t)(fields - event), word, strlen(word)) : NULL;

	return at ? at + strlen(word) : NULL;
}

/* A character of a string in quotes; 0 at its end. What is written of such as are no text has a backslash more: it stays. */
static char next(const char **at)
{
	const char *c = *at;

	if (!*c || *c == '"' || *c == '\n')
		return 0;
	if (*c != '\\') {
		(*at)++;
		return *c;
	}
	if (c[1] >= '0' && c[1] <= '3' && c[2] >= '0' && c[2] <= '7' && c[3] >= '0' && c[3] <= '7') {
		*at += 4;
		return (char)((c[1] - '0') << 6 | (c[2] - '0') << 3 | (c[3] - '0'));
	}
	*at += c[1] ? 2 : 1;
	return c[1];
}

static char *unquoted(const char *text)
{
	char *plain = malloc(strcspn(text, "\n") + 1), *to = plain;

	while (plain && (*to = next(&text)) != 0)
		to++;
	return plain;
}

struct event_origin event_origin_of(const struct metadata *metadata, uint32_t id)
{
	struct event_origin origin = {.level = LEVEL_UNKNOWN};
	char key[32];

	snprintf(key, sizeof(key), "\n\tid = %u;\n", (unsigned int)id);
	const char *event = metadata->types.text ? strstr(metadata->types.text, key) : NULL;
	const char *level = event ? find(event, "\n\tloglevel = ") : NULL;
	const char *uri = event ? find(event, "\n\tmodel.emf.uri = \"") : NULL;
	if (level)
		origin.level = (unsigned int)strtoul(level, NULL, 10);
	origin.file = uri ? unquoted(uri) : NULL;
	char *colon = origin.file ? strrchr(origin.file, ':') : NULL;
	if (colon) {
		*colon = '\0';
		origin.line = atoi(colon + 1);
	}
	return origin;
}
