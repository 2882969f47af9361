/* SPDX-License-Identifier: MIT */
#include "client/outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/directory.h"
#include "fail_msg.h"

/* More than any process has; what comes then is no answer. */
#define MAX_OUTPUTS 1024

/* ---- Its lines ---- */

/* The word behind KEY. False: it is not there, or too long. */
static bool take_word(const char *line, const char *key, char *to, size_t size)
{
	const char *at = strstr(line, key);
	const size_t len = at ? strcspn(at + strlen(key), " ") : 0;

	if (!at || len >= size)
		return false;
	memcpy(to, at + strlen(key), len);
	to[len] = '\0';
	return true;
}

static void take_lost(const char *line, unsigned long *lost)
{
	const char *at = strstr(line, " lost=");

	at = at ? at + strlen(" lost=") : "";
	for (size_t i = 0; i < NR_CAUSES; i++) {
		char *end;
		lost[i] = strtoul(at, &end, 10);
		at = *end == '/' ? end + 1 : "";
	}
}

static bool add_output(struct output_list *list, char *line)
{
	struct output output = {.id = ""};
	char number[24] = "";

	/* name= is the last, and may hold anything. */
	char *name = strstr(line, " name=");
	if (name)
		*name = '\0';
	if (!take_word(line, "output ", output.id, sizeof(output.id)) ||
	    !take_word(line, " kind=", output.kind, sizeof(output.kind)) ||
	    !take_word(line, " owner=", output.owner, sizeof(output.owner)) || list->nr == MAX_OUTPUTS)
		return true; /* it is of another version than this */
	if (take_word(line, " events=", number, sizeof(number)))
		output.events = strtoul(number, NULL, 10);
	output.is_off = strstr(line, " tracing=off") != NULL;
	take_lost(line, output.lost);
	if ((list->nr & (list->nr - 1)) == 0) {
		struct output *all = reallocarray(list->all, list->nr ? 2 * list->nr : 1, sizeof(*all));
		if (!all)
			return false;
		list->all = all;
	}
	output.name = strdup(name ? name + strlen(" name=") : "");
	output.rules = strdup("");
	output.children = strdup("");
	list->all[list->nr++] = output;
	return output.name && output.rules && output.children;
}

/* False: no memory. */
static bool add_line(char **lines, const char *line)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", *lines, **lines ? "\n" : "", line) < 0)
		return false;
	free(*lines);
	*lines = longer;
	return true;
}

/* "child ID PID lost=N/N/N/N/N", of the output before: what a forked child has lost. PID 0: several. */
static bool add_child(struct output_list *list, const char *line)
{
	const char *pid = strchr(line + strlen("child "), ' ');
	unsigned long lost[NR_CAUSES];
	char text[512];

	if (!pid || !list->nr)
		return true;
	struct output *output = &list->all[list->nr - 1];
	take_lost(line, lost);
	for (size_t i = 0; i < NR_CAUSES; i++)
		output->lost[i] += lost[i];
	const int number = atoi(pid + 1);
	if (number)
		snprintf(text, sizeof(text), "process %d, a forked child: %s", number, lost_text(lost));
	else
		snprintf(text, sizeof(text), "other forked children: %s", lost_text(lost));
	return add_line(&output->children, text);
}

/* "rule ID enable|disable PATTERNS", of the output before. */
static bool add_rule(struct output_list *list, const char *line)
{
	const char *rule = strchr(line + strlen("rule "), ' ');

	return !rule || !list->nr || add_line(&list->all[list->nr - 1].rules, rule + 1);
}

static bool take_line(void *data, char *line)
{
	struct output_list *list = data;
	bool good = true;

	if (strncmp(line, "output ", strlen("output ")) == 0)
		good = add_output(list, line);
	else if (strncmp(line, "rule ", strlen("rule ")) == 0)
		good = add_rule(list, line);
	else if (strncmp(line, "child ", strlen("child ")) == 0)
		good = add_child(list, line);
	list->failed = !good;
	return good;
}

bool outputs_read(struct output_list *list, struct connection *connection)
{
	struct answer answer;

	*list = (struct output_list){.all = NULL};
	if (ask(connection, &answer, -1, take_line, list, "outputs"))
		return true;
	return list->failed && fail_no_memory();
}

void outputs_free(struct output_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->all[i].name);
		free(list->all[i].rules);
		free(list->all[i].children);
	}
	free(list->all);
	*list = (struct output_list){.all = NULL};
}

/* ---- For a person ---- */

/* The names of all but the program's own begin with the kind, as TP_OUTPUT has it. */
const char *output_title(const struct output *output)
{
	return *output->name ? output->name : output->kind;
}

unsigned long output_lost(const struct output *output)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < NR_CAUSES; i++)
		sum += output->lost[i];
	return sum;
}

const char *lost_text(const unsigned long *lost)
{
	static const char *const causes[NR_CAUSES] = {"no file", "limit", "nested", "too large", "other"};
	static char text[256];
	unsigned long sum = 0;
	size_t len;

	for (size_t i = 0; i < NR_CAUSES; i++)
		sum += lost[i];
	len = (size_t)snprintf(text, sizeof(text), "%lu", sum);
	for (size_t i = 0, nr = 0; i < NR_CAUSES; i++) {
		if (lost[i])
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s: %lu", nr++ ? ", " : " (",
						causes[i], lost[i]);
	}
	if (sum)
		snprintf(text + len, sizeof(text) - len, ")");
	return text;
}

/* ---- The one that is meant ---- */

static bool is_of_kind(const struct output *output, const char *kind)
{
	return !kind || strcmp(output->kind, kind) == 0;
}

/* "1 (text:stderr), 2 (ctf:/tmp/trace)" */
static void list_them(const struct output_list *list, const char *kind, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < list->nr && len < size; i++) {
		if (is_of_kind(&list->all[i], kind))
			len += (size_t)snprintf(text + len, size - len, "%s%s (%s)", len ? ", " : "", list->all[i].id,
						output_title(&list->all[i]));
	}
}

/* Whether they are the same but for options behind the name. */
static bool is_same(const char *name, const char *wanted)
{
	const size_t len = strlen(wanted);

	return strncmp(name, wanted, len) == 0 && (!name[len] || name[len] == ',');
}

/* KIND:NAME, or NAME; where the user stands, a file may be called by less than its whole path. */
static bool is_name(const struct output *output, const char *wanted)
{
	const char *title = output_title(output);
	const char *colon = strchr(title, ':');
	const size_t head = colon ? (size_t)(colon - title) + 1 : 0;
	const char *name = strncmp(wanted, title, head) == 0 ? wanted + head : wanted;

	if (is_same(title + head, name))
		return true;
	char *path = *name && *name != '/' ? absolute_path(name) : NULL;
	bool is = path && is_same(title + head, path);
	free(path);
	return is;
}

const struct output *outputs_find(const struct output_list *list, const struct connection *connection, const char *wanted)
{
	char text[2048];

	for (size_t i = 0; i < list->nr; i++) {
		if (strcmp(list->all[i].id, wanted) == 0)
			return &list->all[i];
	}
	for (size_t i = 0; i < list->nr && *wanted; i++) {
		if (is_name(&list->all[i], wanted))
			return &list->all[i];
	}
	list_them(list, NULL, text, sizeof(text));
	fail_msg("%s has no output '%s'; it has %s", connection_title(connection), wanted, *text ? text : "none");
	return NULL;
}

const struct output *outputs_only(const struct output_list *list, const struct connection *connection, const char *kind,
				  const char *what)
{
	const struct output *only = NULL;
	char text[2048];
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (is_of_kind(&list->all[i], kind)) {
			only = &list->all[i];
			nr++;
		}
	}
	if (nr == 1)
		return only;
	list_them(list, kind, text, sizeof(text));
	if (nr)
		fail_msg("%s has more than one %s: say which of %s", connection_title(connection), what, text);
	else
		fail_msg("%s has no %s%s", connection_title(connection), what,
			 kind ? "" : "; \"tp outputs --open\" opens one, such as --open ctf:DIR,mode=flight");
	return NULL;
}

const struct output *outputs_choose(const struct output_list *list, const struct connection *connection, const char *wanted)
{
	return wanted ? outputs_find(list, connection, wanted) : outputs_only(list, connection, NULL, "output");
}
