/* SPDX-License-Identifier: MIT */
/*
 * start/selection.c - see selection.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "base/message.h"
#include "base/text.h"
#include "events/events.h"
#include "events/pattern.h"
#include "filter/filter.h"
#include "start/selection.h"

void tp_selection_free(struct tp_selection *selection)
{
	free(selection->setting);
	free(selection->text);
	free(selection->rules);
	*selection = (struct tp_selection){.nr = 0};
}

/* 0; -ENOMEM; -EINVAL after a message. */
static int check(const struct tp_selection *selection, const struct tp_selected *rule, const char *consequence)
{
	struct tp_buffer text = {.text = NULL};
	struct tp_filter_error wrong;
	int error;

	tp_pattern_free(tp_pattern_new(rule->patterns, &error));
	if (error == -EINVAL)
		tp_complain("%s: no list of patterns; write for example sched:*,!sched:sched_wakeup; %s", selection->setting,
			    consequence);
	if (error || !rule->filter)
		return error;
	tp_filter_free(tp_filter_new(rule->filter, &wrong));
	if (wrong.error == -EINVAL) {
		tp_filter_error_print_line(&text, rule->filter, &wrong);
		tp_complain("%s: the filter is wrong: %s; %s", selection->setting, text.failed ? "" : text.text, consequence);
		tp_buffer_free(&text);
	}
	error = wrong.error;
	tp_filter_error_free(&wrong);
	return error;
}

/* As many as there may be; of no rule at all, an empty one, which is wrong. */
static int cut(struct tp_selection *selection, bool at_arrows)
{
	size_t room = 1;

	for (const char *at = selection->text; *at; at++)
		room += *at == ';' || *at == '<';
	selection->rules = tp_malloc(room * sizeof(selection->rules[0]));
	if (!selection->rules)
		return -ENOMEM;
	for (char *next, *at = selection->text; at; at = next) {
		next = at_arrows ? tp_cut_at_arrow(at, true) : tp_cut_at_semicolon(at, true);
		char *rule = tp_trim(at);
		if (!*rule && !at_arrows && (next || selection->nr))
			continue; /* a semicolon too many is forgiven */
		char *filter = tp_pattern_take_filter(rule);
		selection->rules[selection->nr++] = (struct tp_selected){.patterns = tp_trim(rule), .filter = filter};
	}
	return 0;
}

bool tp_selection_set(struct tp_selection *selection, const char *output, const char *rules, const char *consequence)
{
	int error = -ENOMEM;

	*selection = (struct tp_selection){.text = strdup(rules)};
	if (asprintf(&selection->setting, output ? "TP_OUTPUT=%s <- %s" : "TP_ENABLE=%s%s", output ? output : "", rules) < 0)
		selection->setting = NULL;
	if (selection->text && selection->setting)
		error = cut(selection, output != NULL);
	for (size_t i = 0; i < selection->nr && !error; i++)
		error = check(selection, &selection->rules[i], consequence);
	if (error == -ENOMEM)
		tp_complain("%s: %s; %s", output ? output : "TP_ENABLE", tp_strerror(-error), consequence);
	if (error)
		tp_selection_free(selection);
	return !error;
}

void tp_selection_enable(const struct tp_selection *selection, struct tp_sink *sink, bool quiet)
{
	for (size_t i = 0; i < selection->nr; i++) {
		struct tp_enable_report report = {.in_a_line = true, .waits = true};
		const struct tp_selected *rule = &selection->rules[i];
		const int error = tp_enable_filtered(sink, rule->patterns, rule->filter, &report);
		if (error < 0)
			tp_complain("%s: %s; not everything is traced", selection->setting, tp_strerror(-error));
		else if (report.text.text && !quiet)
			tp_complain("%s: %s", selection->setting, report.text.text);
		tp_buffer_free(&report.text);
	}
}
