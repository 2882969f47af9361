/* SPDX-License-Identifier: MIT */
/*
 * start/synthetic.c - TP_SYNTHETIC: definitions of synthetic events, with a newline or a "|" between them, as they have
 * semicolons themselves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/text.h"
#include "events/synthetic.h"
#include "start/selection.h"
#include "start/start.h"

/* Bytes of a definition in a message: what is wrong must have room behind it. */
#define SHOWN 400

static void define(const char *definition)
{
	struct tp_buffer why = {.text = NULL};
	const int error = tp_synthetic_define(definition, true, &why);

	if (error)
		tp_complain("TP_SYNTHETIC=%.*s%s: %s; there is no such event", SHOWN, definition,
			    strlen(definition) > SHOWN ? "..." : "", why.text && !why.failed ? why.text : tp_strerror(-error));
	tp_buffer_free(&why);
}

void tp_synthetic_define_all(const char *definitions)
{
	char *text = strdup(definitions), *rest = text;

	if (!text)
		tp_complain("TP_SYNTHETIC: %s", tp_strerror(ENOMEM));
	for (char *definition; (definition = strsep(&rest, "|\n"));) {
		definition = tp_trim(definition);
		if (*definition)
			define(definition);
	}
	free(text);
}
