/* SPDX-License-Identifier: MIT */
/* report.c - "tp report": traces as text. */
#include "report/report.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/common_options.h"
#include "commands/commands.h"
#include "options.h"
#include "report/terminal.h"
#include "fail_msg.h"

enum {
	OPTION_FIELDS = OPTION_LONG + 1,
	OPTION_UTC,
	OPTION_LOCAL,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_SUMMARY,
	OPTION_JSON,
	OPTION_DELTA,
	OPTION_HEADER,
	OPTION_COLOR,
	OPTION_NO_PAGER,
	OPTION_FOLLOW,
};

/* False: it is there, and makes no sense. */
static bool read_when(const struct tp_args *args, int id, const char *name, enum when_style style, struct when *when,
		      const struct when **result)
{
	const char *text = args_value(args, id);

	*result = text ? when : NULL;
	if (!text || when_parse(when, text, style))
		return true;
	args_wrong(args, "--%s '%s' is no time, such as 1795417254.5, '2026-11-23 07:00:54', +5s or -200ms", name, text);
	return false;
}

/* False: it is there, and is no number. */
static bool read_number(const struct tp_args *args, uint64_t *number)
{
	const char *text = args_value(args, 'n');
	char *end;

	*number = 0;
	if (!text)
		return true;
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *number)
		return true;
	args_wrong(args, "-n '%s' is no number of lines, from 1 on", text);
	return false;
}

static bool read_colour(const struct tp_args *args, bool *is_wanted)
{
	const char *text = args_value(args, OPTION_COLOR);
	enum colour colour = COLOUR_AUTO;

	if (text && !colour_parse(&colour, text)) {
		args_wrong(args, "--color '%s' is none of auto, always and never", text);
		return false;
	}
	*is_wanted = colour_is_wanted(colour);
	return true;
}

/* False: they do not go together. */
static bool check_options(const struct tp_args *args)
{
	if (!args->nr_operands || args->program)
		args_wrong(args, "give it one DIR at least, that of a trace");
	else if (args_has(args, OPTION_UTC) && args_has(args, OPTION_LOCAL))
		args_wrong(args, "give it --utc or --local, not both");
	else if (args_has(args, OPTION_JSON) && !args_has(args, OPTION_SUMMARY))
		args_wrong(args, "--json goes with --summary");
	else if (args_has(args, OPTION_SUMMARY) && args_has(args, OPTION_FOLLOW))
		args_wrong(args, "--summary is of what is there: it goes without --follow");
	else
		return true;
	return false;
}

/* On a terminal, if there is one. */
static bool write_paged(struct report *report, bool with_pager)
{
	struct pager pager = {.pid = 0};

	if (with_pager && !pager_begin(&pager))
		return false;
	const bool good = report_write(report);
	return pager_end(&pager) && good;
}

static int run(const struct tp_args *args)
{
	struct when since, until;
	struct report report = {
		.paths = args->operands, .nr_paths = args->nr_operands, .columns = terminal_columns(),
		.kind = args_has(args, OPTION_JSON) ? REPORT_SUMMARY_JSON : args_has(args, OPTION_SUMMARY) ? REPORT_SUMMARY : REPORT_LINES,
		.style = {
			.when = args_has(args, OPTION_UTC) ? WHEN_UTC : args_has(args, OPTION_LOCAL) ? WHEN_LOCAL : WHEN_EPOCH,
			.with_fields = args_has(args, OPTION_FIELDS), .with_delta = args_has(args, OPTION_DELTA),
			.is_terminal = isatty(STDOUT_FILENO),
		},
		.follows = args_has(args, OPTION_FOLLOW),
	};

	if (!check_options(args) || !read_number(args, &report.nr_wanted) || !read_colour(args, &report.style.with_colours) ||
	    !read_when(args, OPTION_SINCE, "since", report.style.when, &since, &report.since) ||
	    !read_when(args, OPTION_UNTIL, "until", report.style.when, &until, &report.until))
		return EXIT_WRONG;
	report.with_header = report.kind != REPORT_SUMMARY_JSON && (args_has(args, OPTION_HEADER) || isatty(STDOUT_FILENO));
	char *events = args_has(args, 'e') ? given_events(args) : NULL;
	if (!events && args_has(args, 'e'))
		return EXIT_FAILED;
	report.events = events;
	signal(SIGPIPE, SIG_DFL); /* nobody reads on: that ends it without a word */
	bool good = write_paged(&report, !report.follows && !args_has(args, OPTION_NO_PAGER));
	free(events);
	return good ? EXIT_DONE : EXIT_FAILED;
}

const struct tp_command command_report = {
	.name = "report",
	.summary = "show traces as text",
	.usage = (const char *const[]){"[OPTION...] DIR...", NULL},
	.operand = "FILE",
	.options = (const struct tp_option[]){
		{'e', "events", "EVENTS", "only these: patterns, also with a filter, as TP_ENABLE takes: 'net:*,!net:net_close', 'net:* if size > 4096'"},
		{OPTION_FIELDS, "fields", NULL, "the fields as name=value, instead of TP_printk's text"},
		{OPTION_UTC, "utc", NULL, "times as dates, in UTC, instead of seconds since the epoch"},
		{OPTION_LOCAL, "local", NULL, "times as dates, in the time zone of TZ"},
		{OPTION_SINCE, "since", "TIME", "only events of this time or later"},
		{OPTION_UNTIL, "until", "TIME", "only events of this time or earlier"},
		{'n', "lines", "NUMBER", "only the first so many events"},
		{OPTION_DELTA, "delta", NULL, "the time since the line before, too, as (+0.000012345)"},
		{OPTION_SUMMARY, "summary", NULL, "how often events were hit, and how fast one followed the other, instead of lines"},
		{OPTION_JSON, "json", NULL, "the summary as one JSON object"},
		{OPTION_FOLLOW, "follow", NULL, "goes on with what is recorded later, and with new traces, until ^C"},
		{OPTION_HEADER, "header", NULL, "lines first that say what the traces are of; on a terminal they are there anyway"},
		{OPTION_COLOR, "color", "auto|always|never", "colours; auto, as without the option: on a terminal, unless NO_COLOR is set or TERM is dumb"},
		{OPTION_NO_PAGER, "no-pager", NULL, "not through $PAGER, or else less, on a terminal"},
		{.name = NULL},
	},
	.text =
		"Shows the traces in the directories DIR, a line for each event, in the order of their times. A DIR may "
		"also be a directory of traces, which are shown together, or a file that \"tp pack\" has made.\n\n"
		"The lines are those of \"perf script\", with the process in front of the thread:\n\n"
		"\tCOMM PID/TID [CPU] TIME: SYSTEM:EVENT: TEXT\n\n"
		"COMM is the thread's name in a trace with context=name, else the program's. [CPU] is there in a trace "
		"with context=cpu. TEXT is that of TP_printk. What needs the program's own functions is shown by "
		"its fields, behind [FAILED TO PARSE]. Stacks have the names of functions, from the programs' files. "
		"[LOST 12 EVENTS] stands where events of a thread are missing.\n\n"
		"FILTERS\n\n"
		"-e takes rules as TP_ENABLE does. The last rule decides that matches an event, and whose filter fits it. "
		"A filter may compare each field of an event, and what each event has: common_pid, comm, and with "
		"context=cpu also cpu.\n\n"
		"SUMMARY\n\n"
		"MIN, MEAN and MAX are of the intervals between two successive hits of an event in one thread. RATE is hits "
		"divided by the seconds from the first event to the last. Lost events are counted as the trace has them: it "
		"does not know why. On a narrow terminal, FIRST and LAST are left out.\n\n"
		"ON A TERMINAL\n\n"
		"There is a header, there are colours, columns are narrower, and all goes through $PAGER, or else less; not with --follow. ^C ends it "
		"behind a whole line.\n\n"
		"TIMES\n\n"
		"TIME is seconds since the epoch (1795417254.112), a date ('2026-11-23 07:00:54.112': in UTC with --utc "
		"or a Z at its end, else local), a time after the beginning of the trace (+5s), or before its end "
		"(-200ms). Units are ns, us, ms, s, m, h and d.\n\n"
		"EXAMPLES\n\n"
		"\ttp report trace\n"
		"\ttp report --summary trace\n"
		"\ttp report --follow --delta -e 'net:*' trace\n"
		"\ttp report trace.1 trace --utc --since -10s -e 'net:* if size > 4096'\n",
	.run = run,
};
