/* SPDX-License-Identifier: MIT */
/* sinks/stats/options.c - how statistics are to be, as their user writes it: "json,by=thread,field=net:*.bytes". */
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "sinks/stats/stats.h"

#define NS_PER_S 1000000000u
#define INTERVAL_MIN_NS 10000000u
#define INTERVAL_MAX_S 86400u
#define TOP 10
#define TOP_MAX 1000

static bool parse_json(const char *value, void *selectors)
{
	struct tp_stats_options *options = selectors;

	(void)value;
	options->json = true;
	return true;
}

static bool parse_by(const char *value, void *selectors)
{
	struct tp_stats_options *options = selectors;

	options->by_thread = strcmp(value, "thread") == 0;
	return options->by_thread;
}

/* "0.25", whatever a decimal point is in the program's locale. */
static bool parse_interval(const char *value, void *selectors)
{
	struct tp_stats_options *options = selectors;
	uint64_t ns = 0, unit = NS_PER_S;
	const char *at = value;

	options->of_file = true;
	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9' && ns <= INTERVAL_MAX_S; at++)
		ns = ns * 10 + (uint64_t)(*at - '0');
	ns *= NS_PER_S;
	if (*at == '.') {
		for (at++; *at >= '0' && *at <= '9'; at++)
			ns += (uint64_t)(*at - '0') * (unit /= 10);
	}
	options->interval_ns = ns;
	return !*at && (ns == 0 || ns >= INTERVAL_MIN_NS) && ns <= (uint64_t)INTERVAL_MAX_S * NS_PER_S;
}

static bool parse_top(const char *value, void *selectors)
{
	struct tp_stats_options *options = selectors;

	return tp_options_number(value, "", &options->top) && options->top >= 1 && options->top <= TOP_MAX;
}

/* "PATTERN.FIELD" */
static bool add_selector(struct tp_stats_options *options, const char *text, size_t len)
{
	struct tp_stats_selector selector = {.text = strndup(text, len)};
	char *pattern = strndup(text, len);
	char *dot = pattern ? strrchr(pattern, '.') : NULL;
	struct tp_stats_selector *selectors = NULL;
	int error;

	if (dot && selector.text && dot[1]) {
		*dot = '\0';
		selector.field = selector.text + (dot + 1 - pattern);
		selector.pattern = tp_pattern_new(pattern, &error);
	}
	free(pattern);
	if (selector.pattern)
		selectors = realloc(options->selectors, (options->nr_selectors + 1) * sizeof(selector));
	if (!selectors) {
		tp_pattern_free(selector.pattern);
		free(selector.text);
		return false;
	}
	options->selectors = selectors;
	options->selectors[options->nr_selectors++] = selector;
	return true;
}

static bool parse_field(const char *value, void *selectors)
{
	for (;;) {
		size_t len = strcspn(value, "+");
		if (!add_selector(selectors, value, len))
			return false;
		if (!value[len])
			return true;
		value += len + 1;
	}
}

static bool parse_children(const char *value, void *selectors)
{
	struct tp_stats_options *options = selectors;

	options->of_file = true;
	options->live_children = strcmp(value, "live") == 0;
	return options->live_children || strcmp(value, "end") == 0;
}

static const struct tp_option known[] = {
	{"json", parse_json, NULL},
	{"by", parse_by, "thread"},
	{"interval", parse_interval, "seconds, from 0.01 to 86400, or 0 for never"},
	{"field", parse_field, "EVENTS.FIELD, or some with + between, as in sched:*.prev_state+net:net_request.size"},
	{"top", parse_top, "a number from 1 to 1000"},
	{"children", parse_children, "end or live"},
};

static const struct tp_options options_of_stats = {
	.subject = "statistics",
	.consequence = "there are no statistics",
	.known = known,
	.nr = sizeof(known) / sizeof(known[0]),
};

bool tp_stats_options_parse(struct tp_stats_options *options, const char *text, const char *file)
{
	*options = (struct tp_stats_options){.live_children = true, .interval_ns = NS_PER_S, .top = TOP};
	return tp_options_parse(&options_of_stats, text, file, options);
}

void tp_stats_options_free(struct tp_stats_options *options)
{
	for (size_t i = 0; i < options->nr_selectors; i++) {
		tp_pattern_free(options->selectors[i].pattern);
		free(options->selectors[i].text);
	}
	free(options->selectors);
}
