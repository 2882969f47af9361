/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/action.c - what is done at a hit, besides counting it:
 *
 *	handler := "onmatch(" SYS "." EV ")" | "onmax(" "$" VAR ")" | "onchange(" "$" VAR ")"
 *	action  := "trace(" SYNTHETIC {"," PARAM} ")" | SYNTHETIC "(" [PARAM {"," PARAM}] ")" | "save(" FIELD {"," FIELD} ")" | "snapshot()"
 */
#include <string.h>

#include "sinks/hist/definition.h"

struct parser {
	struct tp_hist_definition *definition;
	struct tp_filter_error *error;
	struct tp_hist_action *action;
	const char *text, *at, *end;
};

static bool fail(const struct parser *p, const char *at, const char *message)
{
	return tp_filter_fail(p->error, (size_t)(at - p->text), message);
}

static struct tp_hist_span between(const struct parser *p, const char *from, const char *to)
{
	return (struct tp_hist_span){(uint32_t)(from - p->text), (uint32_t)(to - from)};
}

/* What is in front of the character, behind which p->at goes on. NULL: there is none. */
static const char *take_until(struct parser *p, char c, struct tp_hist_span *taken)
{
	const char *begin = p->at;
	const char *found = memchr(begin, c, (size_t)(p->end - begin));

	if (!found)
		return NULL;
	*taken = between(p, begin, found);
	p->at = found + 1;
	return begin;
}

static bool take(struct parser *p, const char *word)
{
	const size_t len = strlen(word);

	if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len) != 0)
		return false;
	p->at += len;
	return true;
}

static bool matched_event(struct parser *p, struct tp_hist_span inside)
{
	const char *begin = p->text + inside.at, *end = begin + inside.len;
	const char *dot = memchr(begin, '.', inside.len);

	if (!dot)
		return fail(p, begin, "Missing subsystem");
	p->action->system = between(p, begin, dot);
	p->action->event = between(p, dot + 1, end);
	return p->action->event.len || fail(p, dot + 1, "Invalid subsystem or event name");
}

static bool handler(struct parser *p)
{
	static const char *const names[] = {
		[TP_HIST_ONMATCH] = "onmatch(", [TP_HIST_ONMAX] = "onmax(", [TP_HIST_ONCHANGE] = "onchange(",
	};
	struct tp_hist_span inside;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!take(p, names[i]))
			continue;
		p->action->handler = (enum tp_hist_handler)i;
		if (!take_until(p, ')', &inside))
			return fail(p, p->at, "No closing paren found");
		if (i == TP_HIST_ONMATCH)
			return matched_event(p, inside);
		p->action->variable = inside;
		return (inside.len > 1 && p->text[inside.at] == '$') ||
		       fail(p, p->text + inside.at, "For onmax(x) or onchange(x), x must be a variable");
	}
	tp_buffer_printf(&p->error->hint, "there are keys=, vals=, sort=, size=, name=, clock=, pause, cont, clear, nohitcount, "
					  "VARIABLE=, onmatch(SYSTEM.EVENT), onmax($VARIABLE), onchange($VARIABLE)");
	return fail(p, p->at, "Unknown parameter");
}

static struct tp_hist_span stripped(const struct parser *p, const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (from < to && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	return between(p, from, to);
}

static bool params(struct parser *p, struct tp_hist_span inside)
{
	const char *at = p->text + inside.at, *end = at + inside.len;

	while (at < end || (at == end && inside.len && at[-1] == ',')) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const struct tp_hist_span param = stripped(p, at, comma ? comma : end);
		if (param.len < 2)
			return fail(p, at, "Invalid action param");
		if (p->action->trace_keyword && !p->action->synthetic.len) {
			p->action->synthetic = param;
		} else if (p->action->nr_params == TP_HIST_PARAMS) {
			return fail(p, at, "Too many action params");
		} else {
			p->action->params[p->action->nr_params++] = param;
		}
		if (!comma)
			break;
		at = comma + 1;
	}
	return true;
}

static bool kind(struct parser *p)
{
	struct tp_hist_action *action = p->action;
	const char *name = p->text + action->name.at;

	if (tp_hist_span_is(p->definition, action->name, "save")) {
		action->kind = TP_HIST_SAVE;
	} else if (tp_hist_span_is(p->definition, action->name, "snapshot")) {
		action->kind = TP_HIST_SNAPSHOT;
	} else {
		action->kind = TP_HIST_TRACE;
		action->trace_keyword = tp_hist_span_is(p->definition, action->name, "trace");
		if (!action->trace_keyword)
			action->synthetic = action->name;
		return true;
	}
	if (action->handler == TP_HIST_ONMATCH)
		return fail(p, name, "Handler doesn't support action");
	return action->kind != TP_HIST_SAVE || !tp_hist_saving(p->definition) ||
	       fail(p, name, "Can't have more than one save() action per hist");
}

static bool action(struct parser *p)
{
	struct tp_hist_span inside;
	const char *begin = p->at;

	if (!take(p, ".") || !take_until(p, '(', &p->action->name) || !p->action->name.len)
		return fail(p, begin, "No action found");
	if (!take_until(p, ')', &inside) || p->at != p->end)
		return fail(p, p->text + p->action->name.at + p->action->name.len, "No closing paren found");
	if (!kind(p) || !params(p, inside))
		return false;
	if (p->action->kind == TP_HIST_SAVE && !p->action->nr_params)
		return fail(p, p->text + inside.at, "No params found for save()");
	if (p->action->kind == TP_HIST_SNAPSHOT && p->action->nr_params)
		return fail(p, p->text + inside.at, "Invalid action param");
	return p->action->kind != TP_HIST_TRACE || p->action->synthetic.len ||
	       fail(p, p->text + inside.at, "Couldn't find synthetic event");
}

bool tp_hist_action_parse(struct tp_hist_definition *definition, struct tp_hist_span span, struct tp_filter_error *error)
{
	struct tp_hist_action *made = &definition->actions[definition->nr_actions];
	struct parser p = {
		.definition = definition, .error = error, .action = made, .text = definition->text,
		.at = definition->text + span.at, .end = definition->text + span.at + span.len,
	};

	*made = (struct tp_hist_action){.span = span, .params = definition->params};
	for (uint32_t i = 0; i < definition->nr_actions; i++)
		made->params += definition->actions[i].nr_params;
	if (!handler(&p) || !action(&p))
		return false;
	definition->nr_actions++;
	return true;
}
