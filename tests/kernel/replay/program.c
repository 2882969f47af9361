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

static struct tp_sink *sink;
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

	snprintf(pattern, sizeof(pattern), "replay:%s", event);
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

void play_reset(void)
{
	tp_disable(sink, "*");
	fseek(trace, 0, SEEK_END);
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

const struct verb verbs[] = {
	{ "accepts", accepts },
	{ "enable", enable },
	{ "disable", disable },
	{ "emit", emit },
	{ "recorded", recorded },
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
	if (argc != 3 || !open_trace())
		return 1;
	err = play(argv[1], argv[2], stdout);
	tp_sink_close(sink);
	fclose(trace);
	fclose(written);
	return err ? 1 : 0;
}
