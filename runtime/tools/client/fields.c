/* SPDX-License-Identifier: MIT */
#include "client/fields.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

#define OPTION "field="

/* What is looked for in the format files of a process's events. */
struct search {
	const char *field; /* a glob */
	size_t nr_events;
	bool found;
	char names[512];   /* of the fields that there are */
};

static void add_name(struct search *search, const char *name)
{
	const size_t len = strlen(search->names);
	const char *known = strstr(search->names, name);

	if (known && (known == search->names || known[-1] == ' ') && strchr(",", known[strlen(name)]))
		return;
	snprintf(search->names + len, sizeof(search->names) - len, "%s%s", len ? ", " : "", name);
}

/* "TYPE NAME[N];..." */
static void take_field(struct search *search, char *field)
{
	field[strcspn(field, ";")] = '\0';
	char *name = strrchr(field, ' ');

	if (!name)
		return;
	name++;
	name[strcspn(name, "[")] = '\0';
	if (fnmatch(search->field, name, 0) == 0)
		search->found = true;
	if (strncmp(name, "common_", strlen("common_")) != 0)
		add_name(search, name);
}

static bool take_line(void *data, char *line)
{
	struct search *search = data;
	char *field = line + strspn(line, "\t");

	if (strncmp(line, "event ", strlen("event ")) == 0)
		search->nr_events++;
	else if (field > line && strncmp(field, "field:", strlen("field:")) == 0)
		take_field(search, field + strlen("field:"));
	return true;
}

/* "PATTERNS.FIELD", which is changed. What is wrong with it otherwise, the process says. */
static bool is_there(struct connection *connection, char *field)
{
	struct search search = {.names = ""};
	struct answer answer;
	char *dot = strrchr(field, '.');

	if (!dot || dot == field || !dot[1])
		return true;
	*dot = '\0';
	search.field = dot + 1;
	request(connection, &answer, -1, take_line, &search, "formats %s", field);
	if (answer.kind != ANSWER_OK || !search.nr_events || search.found)
		return true;
	return fail_msg("--field %s.%s: there is no such field; there %s %s", field, search.field,
		    strchr(search.names, ',') ? "are" : "is", *search.names ? search.names : "none");
}

static bool are_there(struct connection *connection, char *fields)
{
	bool good = true;

	for (char *next, *field = fields; field && good; field = next) {
		next = strchr(field, '+');
		if (next)
			*next++ = '\0';
		good = is_there(connection, field);
	}
	return good;
}

bool fields_are_there(struct connection *connection, const char *options)
{
	char *copy = strdup(options);
	bool good = copy || fail_no_memory();

	for (char *next, *option = copy; option && good; option = next) {
		next = strchr(option, ',');
		if (next)
			*next++ = '\0';
		if (strncmp(option, OPTION, strlen(OPTION)) == 0)
			good = are_there(connection, option + strlen(OPTION));
	}
	free(copy);
	return good;
}
