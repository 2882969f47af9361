/* SPDX-License-Identifier: MIT */
#include "client/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/pattern.h"
#include "fail_msg.h"

static bool take_note(void *data, char *line)
{
	if (strncmp(line, "note ", strlen("note ")) == 0)
		fail_msg("%s: %s", connection_title(data), line + strlen("note "));
	return true;
}

bool ask_with_notes(struct connection *connection, struct answer *answer, int fd, const char *request)
{
	return ask(connection, answer, fd, take_note, connection, "%s", request);
}

static bool apply(struct connection *connection, const char *word, const char *id, const char *rule, unsigned long *nr)
{
	struct answer answer;
	char *request;

	if (asprintf(&request, "%s %s %s", word, id, rule) < 0)
		return fail_no_memory();
	const bool good = ask_with_notes(connection, &answer, -1, request);
	free(request);
	*nr += good ? strtoul(answer.text, NULL, 10) : 0;
	return good;
}

bool rules_apply(struct connection *connection, const char *word, const char *id, const char *rules, unsigned long *nr)
{
	char *text = strdup(rules);
	bool good = text || fail_no_memory();

	*nr = 0;
	for (char *next, *rule = text; rule && good; rule = next) {
		next = tp_cut_at_semicolon(rule, true);
		rule = tp_trim(rule);
		if (*rule || (!next && rule == text))
			good = apply(connection, word, id, rule, nr);
	}
	free(text);
	return good;
}

static bool is_filtered(const char *rules)
{
	char *copy = strdup(rules);
	const bool is = copy && (strchr(copy, ';') || tp_pattern_take_filter(copy));

	free(copy);
	return is;
}

char *rules_join(char *list, const char *more)
{
	char *joined;

	if (!list)
		joined = strdup(more);
	else if (asprintf(&joined, "%s%s%s", list, is_filtered(list) || is_filtered(more) ? ";" : ",", more) < 0)
		joined = NULL;
	free(list);
	if (!joined)
		fail_no_memory();
	return joined;
}
