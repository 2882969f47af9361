/* SPDX-License-Identifier: MIT */
/* program.c - program RECORDS SCRIPT: plays a script with the tracepoints of this process. */
#define CREATE_TRACE_POINTS
#include "replay.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <tp/tp.h>

#include "play.h"
#include "record/record.h"
#include "triggers/triggers.h"

#include "../../processors.h"

static struct tp_sink *sink;
#define MAX_SYNTHS 64

static char synths[MAX_SYNTHS][128]; /* as they are taken off */
static size_t nr_synths;
static FILE *written; /* by the sink, a line a record */
static FILE *trace;   /* the same file, read as far as records have been said */

void play_emit(const char *line)
{
	struct values values;

	if (!values_scan(line, &values))
		sayf("not a record: %s", line);
	else if (strcmp(values.event, "all") == 0)
		trace_replay_all(&values);
	else if (strcmp(values.event, "begin") == 0)
		trace_replay_begin(&values);
	else
		trace_replay_end(&values);
}

static const char *pattern_of(const char *event)
{
	static char pattern[64];

	snprintf(pattern, sizeof(pattern), "%s%s", strchr(event, ':') ? "" : "replay:", event);
	return pattern;
}

static void recorded(char *args)
{
	char line[4096];

	(void)args;
	clearerr(trace);
	while (fgets(line, sizeof(line), trace))
		say_record(line);
	say_numbers_end();
}

/* As init.c does it: an event is enabled while its filter is tried. */
static void accepts(char *rest)
{
	const char *event = next_word(&rest);
	char *error;
	const int done = tp_enable_if(sink, pattern_of(event), rest, &error);

	if (done < 0) {
		sayf("error %s", strerrorname_np(-done));
		say(error ? error : "");
	} else {
		emit("");
		say("ok");
		recorded(NULL);
	}
	free(error);
	tp_disable(sink, pattern_of(event));
}

static void enable(char *event)
{
	tp_enable(sink, pattern_of(event));
}

static void disable(char *event)
{
	tp_disable(sink, pattern_of(event));
}

static void say_result(int done, char *error)
{
	if (done < 0) {
		sayf("error %s", strerrorname_np(-done));
		say(error ? error : "");
	} else {
		say("ok");
	}
	free(error);
}

static void filter(char *rest)
{
	const char *event = next_word(&rest);
	char *error;
	const int done = tp_enable_if(sink, pattern_of(event), rest, &error);

	say_result(done, error);
}

/* Whether there is no mistake. */
static bool trigger_of(const char *event, const char *text)
{
	char *error;
	const int done = tp_trigger(sink, pattern_of(event), text, &error);

	say_result(done, error);
	return done >= 0;
}

static void trigger(char *rest)
{
	const char *event = next_word(&rest);

	if (trigger_of(event, rest) && rest[0] != '!')
		remember(pattern_of(event), rest);
}

static void say_trigger(uint64_t serial, const char *patterns, const char *text, void *event)
{
	(void)serial;
	if (strcmp(patterns, event) == 0)
		say(text);
}

static void say_triggers(char *event)
{
	char pattern[64];

	snprintf(pattern, sizeof(pattern), "%s", pattern_of(event));
	tp_triggers_each(say_trigger, pattern);
}

static void take_off(const char *where, const char *trigger)
{
	tp_trigger(sink, where, trigger, NULL);
}

static void say_left(uint64_t serial, const char *patterns, const char *text, void *unused)
{
	(void)serial;
	(void)unused;
	sayf("still there: %s %s", patterns, text);
}

/* Sets one, shows the list, and takes it off again. */
static void try_trigger(char *rest)
{
	char *event = next_word(&rest);
	char text[4096];

	snprintf(text, sizeof(text), "!%s", rest);
	if (!trigger_of(event, rest) || text[1] == '!')
		return;
	say_triggers(event);
	if (tp_trigger(sink, pattern_of(event), text, NULL) < 0)
		say("not taken off");
}

static void state(char *args)
{
	(void)args;
	say(tp_sink_is_on(sink) ? "1" : "0");
}

static void switch_recording(char *to)
{
	tp_sink_switch(sink, to[0] == '1');
}

static void say_hist(char *event)
{
	char *text = tp_hist_text(pattern_of(event), false);

	say(text ? text : "");
	free(text);
}

static void say_totals(char *event)
{
	char *text = tp_hist_text(pattern_of(event), false);
	const char *totals = text ? strstr(text, "Totals:") : NULL;

	say(totals ? totals : "none");
	free(text);
}

static void synth(char *text)
{
	char *error;
	const int done = tp_synthetic_event(text, &error);

	say_result(done, error);
	if (!done && text[0] != '!' && nr_synths < MAX_SYNTHS)
		snprintf(synths[nr_synths++], sizeof(synths[0]), "!%.*s", (int)strcspn(text, " ;"), text);
}

static void forget_synths(void)
{
	while (nr_synths) {
		char *error;
		tp_synthetic_event(synths[--nr_synths], &error);
		free(error);
	}
}

static void try_synth(char *text)
{
	synth(text);
	forget_synths();
}

void play_reset(void)
{
	take_all_off(take_off);
	tp_triggers_each(say_left, NULL);
	tp_disable(sink, "*");
	forget_synths();
	tp_sink_switch(sink, true);
	fseek(trace, 0, SEEK_END);
}

const struct verb verbs[] = {
	{ "accepts", accepts },
	{ "enable", enable },
	{ "disable", disable },
	{ "emit", emit },
	{ "recorded", recorded },
	{ "filter", filter },
	{ "trigger", trigger },
	{ "try", try_trigger },
	{ "state", state },
	{ "switch", switch_recording },
	{ "triggers", say_triggers },
	{ "hist", say_hist },
	{ "totals", say_totals },
	{ "synth", synth },
	{ "trysynth", try_synth },
	{ NULL, NULL },
};

static bool open_trace(void)
{
	char path[64];

	written = tmpfile();
	if (!written)
		return false;
	setvbuf(written, NULL, _IOLBF, BUFSIZ);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(written));
	trace = fopen(path, "r");
	sink = tp_text_sink(written);
	return trace && sink;
}

int main(int argc, char **argv)
{
	cpu_set_t first;
	int err;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first); /* the records of a kernel come from this one */
	prctl(PR_SET_NAME, "replay");
	nr_processors = 8; /* as ask.py's machine */
	if (argc != 3 || !open_trace())
		return 1;
	err = play(argv[1], argv[2], stdout);
	tp_sink_close(sink);
	fclose(trace);
	fclose(written);
	return err ? 1 : 0;
}
