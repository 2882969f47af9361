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

#define EVENTS "/tracefs/events/replay/"
#define MAX_SET 64
#define LOG_INDENT 11 /* "  Command: " */

/* What a case has set, as it is taken off. */
static struct {
	char path[256];
	char text[4096];
} set[MAX_SET];
static size_t nr_set;

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

static const char *path_of(const char *event, const char *file)
{
	snprintf(path, sizeof(path), EVENTS "%s/%s", event, file);
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
	if (!err) {
		say("ok");
		return;
	}
	sayf("error %s", strerrorname_np(-err));
	say_log();
}

static void forget_log(void)
{
	write_file("/tracefs/error_log", O_TRUNC, "");
}

/* Takes off what was set, the latest first, as earlier triggers can be in use by later ones. */
void play_reset(void)
{
	static const char *const events[] = { "replay_all", "replay_begin", "replay_end" };

	for (; nr_set; nr_set--) {
		if (set[nr_set - 1].text[0] && write_file(set[nr_set - 1].path, O_APPEND, set[nr_set - 1].text) < 0)
			sayf("not taken off: %s", set[nr_set - 1].text);
	}
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		write_file(path_of(events[i], "enable"), 0, "0");
		write_file(path_of(events[i], "filter"), 0, "0");
		read_file(path_of(events[i], "trigger"));
		if (text[0] != '#')
			sayf("still there: %s", text);
	}
	write_file("/tracefs/synthetic_events", O_TRUNC, "");
	write_file("/tracefs/tracing_on", 0, "1");
	write_file("/tracefs/trace", O_TRUNC, "");
	write_file("/tracefs/snapshot", 0, "0");
	forget_log();
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

static void remember(const char *where, const char *what)
{
	if (nr_set < MAX_SET) {
		snprintf(set[nr_set].path, sizeof(set[nr_set].path), "%s", where);
		snprintf(set[nr_set++].text, sizeof(set->text), "!%s", what);
	}
}

/* One that changes another does not make one. */
static bool is_new(const char *what)
{
	return !strstr(what, ":pause") && !strstr(what, ":cont") && !strstr(what, ":clear");
}

static void forget(const char *where, const char *what)
{
	for (size_t i = nr_set; i-- > 0;) {
		if (strcmp(set[i].path, where) == 0 && strncmp(set[i].text, what, strcspn(what, " ")) == 0) {
			set[i].text[0] = '\0';
			return;
		}
	}
}

static void trigger(char *rest)
{
	const char *event = next_word(&rest);
	const int err = write_file(path_of(event, "trigger"), O_APPEND, rest);

	say_result(err);
	forget_log();
	if (!err && rest[0] == '!')
		forget(path_of(event, "trigger"), rest);
	else if (!err && is_new(rest))
		remember(path_of(event, "trigger"), rest);
}

static void synth(char *rest)
{
	const int err = write_file("/tracefs/synthetic_events", O_APPEND, rest);

	say_result(err);
	forget_log();
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

const struct verb verbs[] = {
	{ "accepts", accepts },
	{ "enable", enable },
	{ "disable", disable },
	{ "emit", emit },
	{ "trigger", trigger },
	{ "synth", synth },
	{ "recorded", recorded },
	{ "snapshot", snapshot },
	{ "state", state },
	{ "triggers", say_triggers },
	{ "enabled", say_enabled },
	{ "hist", say_hist },
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
