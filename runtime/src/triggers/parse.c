/* SPDX-License-Identifier: MIT */
/*
 * triggers/parse.c - see parse.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "triggers/commands.h"
#include "triggers/parse.h"

#define BLANKS " \t\n"

/* A text on its way. */
struct reading {
	const char *text, *at;
	struct tp_filter_error *error;
};

static int fail(const struct reading *r, const char *at, const char *message)
{
	r->error->error = -EINVAL;
	r->error->at = (size_t)(at - r->text);
	r->error->message = message;
	return -EINVAL;
}

static size_t word_len(const char *at)
{
	return strcspn(at, ":" BLANKS);
}

static int read_command(struct reading *r, struct tp_trigger_text *parsed)
{
	r->at += strspn(r->at, BLANKS);
	parsed->remove = *r->at == '!';
	r->at += parsed->remove;
	const size_t len = word_len(r->at);
	parsed->command = tp_trigger_command_of(r->at, len);
	if (!parsed->command) {
		tp_buffer_printf(&r->error->hint, "there are ");
		tp_trigger_command_names(&r->error->hint);
		return fail(r, r->at, len ? "No such trigger" : "No trigger found");
	}
	r->at += len;
	return 0;
}

/* ":SYSTEM:EVENT" */
static int read_target(struct reading *r, struct tp_trigger_text *parsed)
{
	const char *system = r->at + (*r->at == ':');
	const char *colon = system + word_len(system);
	const char *event = colon + (*colon == ':');
	const char *end = event + word_len(event);

	if (*r->at != ':' || colon == system || *colon != ':' || end == event) {
		tp_buffer_printf(&r->error->hint, "write %s:SYSTEM:EVENT", parsed->command->name);
		return fail(r, r->at, "No event found");
	}
	parsed->target = strndup(system, (size_t)(end - system));
	r->at = end;
	return parsed->target ? 0 : -ENOMEM;
}

/* ":COUNT", with a base as in C. */
static int read_count(struct reading *r, struct tp_trigger_text *parsed)
{
	const char *number = ++r->at;
	char *end;

	errno = 0;
	const unsigned long long count = strtoull(number, &end, 0);
	if (*number < '0' || *number > '9' || errno || count == TP_TRIGGER_UNLIMITED || end != number + strcspn(number, BLANKS))
		return fail(r, number, "Illegal integer value");
	parsed->count = count;
	r->at = end;
	return 0;
}

static int read_filter(struct reading *r, struct tp_trigger_text *parsed)
{
	const size_t len = strlen(TP_FILTER_WORD);

	r->at += strspn(r->at, BLANKS);
	if (!*r->at)
		return 0;
	if (strncmp(r->at, TP_FILTER_WORD, len) != 0 || !strchr(BLANKS, r->at[len])) {
		tp_buffer_printf(&r->error->hint, "write if, and a filter behind it");
		return fail(r, r->at, "Invalid trigger");
	}
	r->at += len;
	r->at += strspn(r->at, BLANKS);
	parsed->filter = r->at;
	return *r->at ? 0 : fail(r, r->at, "No filter found");
}

static int parse(struct reading *r, struct tp_trigger_text *parsed)
{
	int error = read_command(r, parsed);

	if (!error && parsed->command->has_target)
		error = read_target(r, parsed);
	if (!error && *r->at == ':')
		error = read_count(r, parsed);
	return error ? error : read_filter(r, parsed);
}

int tp_trigger_parse(struct tp_trigger_text *parsed, const char *text, struct tp_filter_error *error)
{
	struct reading reading = {.text = text, .at = text, .error = error};

	*parsed = (struct tp_trigger_text){.count = TP_TRIGGER_UNLIMITED};
	*error = (struct tp_filter_error){.error = 0};
	const int result = parse(&reading, parsed);
	if (result)
		tp_trigger_text_free(parsed);
	return result;
}

void tp_trigger_text_free(struct tp_trigger_text *parsed)
{
	free(parsed->target);
	parsed->target = NULL;
}
