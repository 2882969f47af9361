/* SPDX-License-Identifier: MIT */
/*
 * control/request.c - see request.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error_name.h"
#include "base/message.h"
#include "control/outputs.h"
#include "control/request.h"
#include "events/events.h"

/* ---- Replies ---- */

void tp_request_fail(struct tp_request *request, int error, const char *fmt, ...)
{
	const char *name = tp_error_name(error);
	char text[2048];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (char *at = text; *at; at++) { /* it may be made of several messages */
		if (*at == '\n')
			*at = at[1] ? ';' : '\0';
	}
	tp_buffer_printf(&request->reply, "error %s %s\n", name ? name : "EIO", text);
}

void tp_request_fail_with(struct tp_request *request, int error, const struct tp_buffer *messages)
{
	if (messages->len)
		tp_request_fail(request, error, "%s", messages->text);
	else
		tp_request_fail(request, error, "%s", tp_strerror(error));
}

void tp_request_fail_patterns(struct tp_request *request, const char *patterns)
{
	tp_request_fail(request, EINVAL, "'%s' is no list of patterns; for example: sched:*,!sched:sched_wakeup", patterns);
}

/* A name may have a newline in it, which a line must not, or what a client's terminal would obey. */
void tp_request_put_name(struct tp_buffer *to, const char *name)
{
	tp_buffer_put_plain(to, name, strlen(name));
	tp_buffer_printf(to, "\n");
}

/* ---- Words ---- */

char *tp_request_word(char **arguments)
{
	char *word = *arguments;

	if (!word || !*word)
		return NULL;
	char *blank = strchr(word, ' ');
	*arguments = blank ? blank + 1 : word + strlen(word);
	if (blank)
		*blank = '\0';
	return word;
}

bool tp_request_id(struct tp_request *request, char **arguments, uint64_t *id)
{
	const char *word = tp_request_word(arguments);
	char *end;

	errno = 0;
	*id = word && *word >= '0' && *word <= '9' ? strtoull(word, &end, 10) : 0;
	if (*id && !*end && !errno)
		return true;
	tp_request_fail(request, EINVAL, "'%s' is no output's id; \"outputs\" lists them", word ? word : "");
	return false;
}

/* ---- Outputs ---- */

void tp_request_no_output(struct tp_request *request, uint64_t id)
{
	tp_request_fail(request, ENOENT, "there is no output %llu", (unsigned long long)id);
}

struct tp_sink *tp_request_hold(struct tp_request *request, uint64_t id)
{
	struct tp_sink *sink = tp_sink_hold(id);

	if (!sink)
		tp_request_no_output(request, id);
	return sink;
}

struct tp_sink *tp_request_hold_to_change(struct tp_request *request, uint64_t id)
{
	const struct tp_output_info info = tp_outputs_info(id);

	if (info.owner != TP_OUTPUT_SESSION || info.session == request->session)
		return tp_request_hold(request, id);
	tp_request_fail(request, EPERM, "output %llu belongs to another connection", (unsigned long long)id);
	return NULL;
}

/* ---- Texts ---- */

void tp_request_put_text(struct tp_buffer *to, const char *text)
{
	while (*text) {
		const size_t len = strcspn(text, "\n");
		tp_buffer_printf(to, "\t%.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}
