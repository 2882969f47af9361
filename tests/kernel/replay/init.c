/* SPDX-License-Identifier: MIT */
/*
 * init.c - init SCRIPT...: the first process of the kernel that is asked. It loads the module, plays each script, and writes
 * the answers to the second serial line. Then the machine stops.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "play.h"

#define EVENTS "/tracefs/events/"
#define LOG_INDENT 11 /* "  Command: " */

static char text[1 << 20];
static char path[256];

static int write_file(const char *to, int flags, const char *what)
{
	const int fd = open(to, O_WRONLY | flags);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, what, strlen(what)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static const char *read_file(const char *from)
{
	const int fd = open(from, O_RDONLY);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && len < sizeof(text) - 1 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(fd);
	return text;
}

/* A file of an event: EVENT of the module's, or SYSTEM:EVENT. */
static const char *path_of(const char *event, const char *file)
{
	const char *colon = strchr(event, ':');

	if (colon)
		snprintf(path, sizeof(path), EVENTS "%.*s/%s/%s", (int)(colon - event), event, colon + 1, file);
	else
		snprintf(path, sizeof(path), EVENTS "replay/%s/%s", event, file);
	return path;
}

/* The newest entry of error_log, without its time: "hist:replay:replay_all: error: TEXT", the command, and the caret. */
static void say_log(void)
{
	char *entry = NULL, *line;

	read_file("/tracefs/error_log");
	for (line = text; *line; line += strcspn(line, "\n") + 1) {
		if (*line == '[')
			entry = line;
	}
	if (!entry)
		return;
	entry = strchr(entry, ']') + 2;
	line = strchr(entry, '\n');
	*line++ = '\0';
	say(entry);
	for (; *line; line += strcspn(line, "\n") + 1)
		sayf("%.*s", (int)strcspn(line + LOG_INDENT, "\n"), line + LOG_INDENT);
}

static void say_result(int err)
{
	if (err) {
		sayf("error %s", strerrorname_np(-err));
		say_log();
	} else {
		say("ok");
	}
	write_file("/tracefs/error_log", O_TRUNC, "\n");
}

static void take_off(const char *where, const char *trigger)
{
	write_file(where, O_APPEND, trigger);
}

void play_reset(void)
{
	static const char *const events[] = { "replay_all", "replay_begin", "replay_end" };

	take_all_off(take_off);
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		write_file(path_of(events[i], "enable"), 0, "0");
		write_file(path_of(events[i], "filter"), 0, "0");
		read_file(path_of(events[i], "trigger"));
		if (text[0] != '#')
			sayf("still there: %s", text);
	}
	write_file(EVENTS "synthetic/enable", 0, "0");
	if (write_file("/tracefs/synthetic_events", O_TRUNC, "\n") < 0)
		say("synthetic events are still there");
	write_file("/tracefs/tracing_on", 0, "1");
	write_file("/tracefs/trace", O_TRUNC, "");
	write_file("/tracefs/snapshot", 0, "0");
	write_file("/tracefs/error_log", O_TRUNC, "\n");
}

void play_emit(const char *line)
{
	if (write_file("/proc/replay", 0, line) < 0)
		sayf("not a record: %s", line);
}

static void say_trace(const char *from)
{
	read_file(from);
	for (char *line = text, *next; *line; line = next) {
		const size_t len = strcspn(line, "\n");
		next = line + len + (line[len] == '\n');
		line[len] = '\0';
		say_record(line);
	}
	say_numbers_end();
}

static void recorded(char *args)
{
	(void)args;
	say_trace("/tracefs/trace");
	write_file("/tracefs/trace", O_TRUNC, "");
}

static void snapshot(char *args)
{
	(void)args;
	say_trace("/tracefs/snapshot");
}

static void accepts(char *rest)
{
	const char *event = next_word(&rest);
	const int err = write_file(path_of(event, "filter"), 0, rest);

	if (err) {
		sayf("error %s", strerrorname_np(-err));
		read_file(path_of(event, "filter"));
		text[strcspn(text, "\n") ? strlen(text) - 1 : 0] = '\0'; /* there is an empty line at the end */
		say(text);
	} else {
		write_file(path_of(event, "enable"), 0, "1");
		emit("");
		write_file(path_of(event, "enable"), 0, "0");
		say("ok");
		recorded(NULL);
	}
	write_file(path_of(event, "filter"), 0, "0");
}

static void switch_event(char *event, const char *to)
{
	const int err = write_file(path_of(event, "enable"), 0, to);

	if (err)
		say_result(err);
}

static void enable(char *event)
{
	switch_event(event, "1");
}

static void disable(char *event)
{
	switch_event(event, "0");
}

static void trigger(char *rest)
{
	const char *event = next_word(&rest);
	const int err = write_file(path_of(event, "trigger"), O_APPEND, rest);

	say_result(err);
	if (!err && rest[0] != '!')
		remember(path_of(event, "trigger"), rest);
}

/* Sets a trigger, shows how it is listed, and takes it off again. */
static void try_trigger(char *rest)
{
	const char *event = next_word(&rest);
	const int err = write_file(path_of(event, "trigger"), O_APPEND, rest);

	say_result(err);
	if (err || rest[0] == '!')
		return;
	say(read_file(path_of(event, "trigger")));
	snprintf(text, sizeof(text), "!%s", rest);
	if (write_file(path_of(event, "trigger"), O_APPEND, text) < 0) {
		say("not taken off");
		remember(path_of(event, "trigger"), rest);
	}
}

static void filter(char *rest)
{
	const char *event = next_word(&rest);

	say_result(write_file(path_of(event, "filter"), 0, rest));
}

static void synth(char *rest)
{
	say_result(write_file("/tracefs/synthetic_events", O_APPEND, rest));
}

/* The same for a synthetic event. */
static void try_synth(char *rest)
{
	const int err = write_file("/tracefs/synthetic_events", O_APPEND, rest);

	say_result(err);
	if (!err) {
		say(read_file("/tracefs/synthetic_events"));
		write_file("/tracefs/synthetic_events", O_TRUNC, "\n");
	}
}

static void switch_recording(char *to)
{
	write_file("/tracefs/tracing_on", 0, to);
}

static void say_synths(char *args)
{
	(void)args;
	say(read_file("/tracefs/synthetic_events"));
}

static void state(char *args)
{
	(void)args;
	say(read_file("/tracefs/tracing_on"));
}

static void say_triggers(char *event)
{
	say(read_file(path_of(event, "trigger")));
}

static void say_enabled(char *event)
{
	say(read_file(path_of(event, "enable")));
}

static void say_hist(char *event)
{
	say(read_file(path_of(event, "hist")));
}

static void say_totals(char *event)
{
	const char *totals = strstr(read_file(path_of(event, "hist")), "Totals:");

	say(totals ? totals : "none");
}

const struct verb verbs[] = {
	{ "accepts", accepts },
	{ "enable", enable },
	{ "disable", disable },
	{ "emit", emit },
	{ "filter", filter },
	{ "trigger", trigger },
	{ "try", try_trigger },
	{ "synth", synth },
	{ "trysynth", try_synth },
	{ "switch", switch_recording },
	{ "recorded", recorded },
	{ "snapshot", snapshot },
	{ "state", state },
	{ "triggers", say_triggers },
	{ "enabled", say_enabled },
	{ "hist", say_hist },
	{ "totals", say_totals },
	{ "synths", say_synths },
	{ NULL, NULL },
};

static void prepare(void)
{
	static const struct {
		const char *type, *where;
	} mounts[] = { { "devtmpfs", "/dev" }, { "proc", "/proc" }, { "tracefs", "/tracefs" } };

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		mkdir(mounts[i].where, 0755);
		mount(mounts[i].type, mounts[i].where, mounts[i].type, 0, NULL);
	}
	prctl(PR_SET_NAME, "replay");
}

/* As for a terminal, the kernel would change line ends. */
static FILE *open_line(void)
{
	const int fd = open("/dev/ttyS1", O_RDWR | O_NOCTTY);
	struct termios line;

	if (fd < 0 || tcgetattr(fd, &line))
		return NULL;
	cfmakeraw(&line);
	tcsetattr(fd, TCSANOW, &line);
	return fdopen(fd, "w");
}

static int load(const char *module)
{
	const int fd = open(module, O_RDONLY);

	return syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
}

int main(int argc, char **argv)
{
	FILE *out;

	prepare();
	out = open_line();
	if (out) {
		const int err = load("/replay.ko");
		fprintf(out, "@@ module %d\n", err);
		for (int i = 1; i < argc && !err; i++) {
			char script[64];
			snprintf(script, sizeof(script), "/%s.txt", argv[i]);
			fprintf(out, "@@ %s\n", argv[i]);
			play("/records.txt", script, out);
		}
		fputs("@@ end\n", out);
		fflush(out);
		tcdrain(fileno(out));
	}
	reboot(RB_POWER_OFF);
	return 1;
}
