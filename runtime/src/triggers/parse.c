/* SPDX-License-Identifier: MIT */
/*
 * triggers/parse.c - see parse.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "triggers/parse.h"
#include "triggers/trigger.h"

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
	const size_t len = parsed->command->may_wait ? word_len(number) : strcspn(number, BLANKS);
	if (*number < '0' || *number > '9' || errno || count == TP_TRIGGER_UNLIMITED || end != number + len)
		return fail(r, number, "Illegal integer value");
	parsed->count = count;
	r->at = end;
	return 0;
}

#define AFTER ":after="

static bool is_after(const struct reading *r, const struct tp_trigger_text *parsed)
{
	return parsed->command->may_wait && strncmp(r->at, AFTER, strlen(AFTER)) == 0;
}

/* ":after=5s" */
static int read_after(struct reading *r, struct tp_trigger_text *parsed)
{
	static const struct unit {
		const char *name;
		uint64_t ns;
	} units[] = {{"ms", 1000000}, {"s", 1000000000}, {"m", 60 * (uint64_t)1000000000}};
	const char *number = r->at + strlen(AFTER);
	char *end;

	errno = 0;
	const unsigned long long value = strtoull(number, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t len = strlen(units[i].name);
		if (*number < '0' || *number > '9' || errno || value > UINT32_MAX || word_len(end) != len ||
		    strncmp(end, units[i].name, len) != 0 || end[len] == ':')
			continue;
		parsed->after_ns = value * units[i].ns;
		r->at = end + len;
		return 0;
	}
	tp_buffer_printf(&r->error->hint, "write after=500ms, after=5s or after=1m");
	return fail(r, number, "Illegal time");
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
	r->at += len + 1; /* further blanks are listed, as in the kernel */
	parsed->filter = r->at;
	parsed->filter_len = strlen(r->at);
	while (parsed->filter_len && strchr(BLANKS, r->at[parsed->filter_len - 1]))
		parsed->filter_len--;
	return parsed->filter_len ? 0 : fail(r, r->at + strlen(r->at), "No filter found");
}

/* Where the word "if" begins, or the end. */
static const char *find_filter(const char *at)
{
	const size_t len = strlen(TP_FILTER_WORD);

	for (; *at; at++) {
		if (strchr(BLANKS, *at) && strncmp(at + 1, TP_FILTER_WORD, len) == 0 && strchr(BLANKS, at[1 + len]))
			break;
	}
	return at;
}

static int read_argument(struct reading *r, struct tp_trigger_text *parsed)
{
	const char *begin = r->at + (*r->at == ':'), *end = find_filter(begin);

	r->at = end;
	begin += strspn(begin, BLANKS);
	while (end > begin && strchr(BLANKS, end[-1]))
		end--;
	parsed->argument = strndup(begin, (size_t)(end - begin));
	parsed->argument_at = (size_t)(begin - r->text);
	return parsed->argument ? 0 : -ENOMEM;
}

static int parse(struct reading *r, struct tp_trigger_text *parsed)
{
	int error = read_command(r, parsed);

	if (!error && parsed->command->takes_all) {
		error = read_argument(r, parsed);
		return error ? error : read_filter(r, parsed);
	}
	if (!error && parsed->command->has_target)
		error = read_target(r, parsed);
	if (!error && *r->at == ':' && !is_after(r, parsed))
		error = read_count(r, parsed);
	if (!error && is_after(r, parsed))
		error = read_after(r, parsed);
	return error ? error : read_filter(r, parsed);
}

int tp_trigger_parse(struct tp_trigger_text *parsed, const char *text, struct tp_filter_error *error)
{
	struct reading reading = {.text = text, .at = text, .error = error};

	*parsed = (struct tp_trigger_text){.count = TP_TRIGGER_UNLIMITED};
	*error = (struct tp_filter_error){.error = 0};
	const int result = parse(&reading, parsed);
	if (result) {
		tp_trigger_text_free(parsed);
		return result;
	}
	const struct tp_trigger_command *command = parsed->command;
	parsed->alone = command->alone && !(command->wants_sink && command->wants_sink(parsed->argument));
	return 0;
}

void tp_trigger_text_free(struct tp_trigger_text *parsed)
{
	free(parsed->target);
	free(parsed->argument);
	parsed->target = parsed->argument = NULL;
}

/* ---- What is wrong with a request ---- */

static void tell(struct tp_trigger_request *request, const struct tp_filter_error *wrong)
{
	if (wrong->error != -EINVAL)
		return;
	if (request->in_a_line)
		tp_filter_error_print_line(&request->text, request->trigger, wrong);
	else
		tp_filter_error_print(&request->text, request->trigger, wrong);
}

int tp_trigger_tell_wrong(struct tp_trigger_request *request, struct tp_filter_error *wrong, size_t begin)
{
	const int error = wrong->error;

	wrong->at += begin;
	tell(request, wrong);
	tp_filter_error_free(wrong);
	return error;
}

int tp_trigger_refuse(struct tp_trigger_request *request, const char *why)
{
	tp_buffer_printf(&request->text, "%s", why);
	return -EINVAL;
}
