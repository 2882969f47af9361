/* SPDX-License-Identifier: MIT */
/*
 * base/options.c - what a sink's user writes behind its name: "mode=flight,size=64M".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/options.h"
#include "base/text.h"

bool tp_options_number(const char *text, const char *suffixes, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (*end) {
		const char *suffix = strchr(suffixes, *end);
		if (!suffix || end[1] != '\0')
			return false;
		unsigned int shift = 10 * (unsigned int)(suffix - suffixes + 1);
		if (number > UINT64_MAX >> shift)
			return false;
		number <<= shift;
	}
	*value = number;
	return true;
}

/* "there are mode=, size= and json" */
static void complain_of_unknown(const struct tp_options *options, const char *text, const char *name)
{
	struct tp_buffer all = {.text = NULL};

	for (size_t i = 0; i < options->nr; i++)
		tp_buffer_printf(&all, "%s%s%s", i == 0 ? "" : i == options->nr - 1 ? " and " : ", ",
				 options->known[i].name, options->known[i].allowed ? "=" : "");
	tp_complain("%s '%s': there is no option '%s'; there are %s; %s", options->subject, name, text,
		    all.failed ? "others" : all.text, options->consequence);
	tp_buffer_free(&all);
}

static bool parse_option(const struct tp_options *options, const char *text, const char *name, void *into)
{
	size_t len = strcspn(text, "=");

	for (size_t i = 0; i < options->nr; i++) {
		const struct tp_option *option = &options->known[i];
		if (strncmp(text, option->name, len) != 0 || option->name[len])
			continue;
		if (!option->allowed == !text[len] && option->parse(text[len] ? text + len + 1 : "", into))
			return true;
		tp_complain("%s '%s': option '%s': %s%s takes %s; %s", options->subject, name, text, option->name,
			    option->allowed ? "=" : "", option->allowed ? option->allowed : "no value",
			    options->consequence);
		return false;
	}
	complain_of_unknown(options, text, name);
	return false;
}

bool tp_options_parse(const struct tp_options *options, const char *text, const char *name, void *into)
{
	char *copy = strdup(text ? text : "");
	char *rest = copy;
	bool good = copy != NULL;

	while (good && rest && text && *text)
		good = parse_option(options, strsep(&rest, ","), name, into);
	free(copy);
	return good;
}
