/* SPDX-License-Identifier: MIT */
/* outputs.c - "tp outputs": where the records of a process go. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pid_name.h"
#include "commands/commands.h"
#include "options.h"
#include "client/directory.h"
#include "client/common_options.h"
#include "client/recording.h"
#include "client/targets.h"
#include "fail_msg.h"

enum { OPTION_OPEN = OPTION_LONG, OPTION_CLOSE, OPTION_ON, OPTION_OFF };

/* ---- Showing ---- */

static void put_lines(const char *head, const char *lines)
{
	while (*lines) {
		const size_t len = strcspn(lines, "\n");
		printf("%6s %s%.*s\n", "", head, (int)len, lines);
		lines += len + (lines[len] == '\n');
	}
}

static bool put_outputs(struct connection *connection)
{
	struct output_list list;
	bool good = outputs_read(&list, connection);

	if (good && list.nr)
		printf("%5s %-11s %6s %8s %s\n", "ID", "OPENED BY", "EVENTS", "LOST", "OUTPUT");
	for (size_t i = 0; good && i < list.nr; i++) {
		const struct output *output = &list.all[i];
		const char *owner = strcmp(output->owner, "other") == 0 ? "session" : output->owner;
		printf("%5s %-11s %6lu %8lu %s\n", output->id, owner, output->events, output_lost(output),
		       output_title(output));
		if (output->is_off)
			printf("%6s tracing is off\n", "");
		put_lines("lost in ", output->children);
		put_lines("", output->rules);
	}
	if (good && !list.nr)
		fail_msg("%s has no output; --open opens one", connection_title(connection));
	outputs_free(&list);
	return good;
}

/* ---- Closing, and switching ---- */

static bool change_output(struct connection *connection, int option, const char *wanted)
{
	struct output_list list;
	struct answer answer;
	const struct output *output = outputs_read(&list, connection) ? outputs_find(&list, connection, wanted) : NULL;
	bool good = output != NULL;

	if (good && option == OPTION_CLOSE)
		good = ask(connection, &answer, -1, NULL, NULL, "close %s", output->id);
	else if (good)
		good = ask(connection, &answer, -1, NULL, NULL, "tracing %s %s", output->id, option == OPTION_ON ? "on" : "off");
	if (good && option == OPTION_CLOSE)
		printf("output %s, %s, is closed; lost: %s\n", output->id, output_title(output), lost_text(output->lost));
	else if (good)
		printf("output %s, %s: tracing is %s\n", output->id, output_title(output), option == OPTION_ON ? "on" : "off");
	outputs_free(&list);
	return good;
}

/* ---- Opening ---- */

/* The file is opened here, with the rights of tp's user; tp's own output can be one, too. */
static bool open_text(struct session *session, const char *file)
{
	const bool is_ours = strcmp(file, "stdout") == 0 || strcmp(file, "stderr") == 0;
	char *path = is_ours ? strdup(file) : absolute_path(file);
	int fd = -1;

	if (!path)
		return false;
	if (is_ours)
		fd = fcntl(file[3] == 'o' ? STDOUT_FILENO : STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = tp_file_open(path, O_APPEND | O_NONBLOCK, 0600);
	const int error = errno;
	bool good = fd >= 0 && session_open(session, fd, "text", path);
	if (fd < 0 && (error != EACCES || !fail_if_foreign(path)))
		fail_msg("'%s' can't be opened: %s%s", path, strerror(error), error == ENXIO ? "; nobody reads the pipe" : "");
	if (fd >= 0)
		close(fd);
	free(path);
	return good;
}

static bool open_ctf(struct session *session, char *directory)
{
	struct recording recording = {.session = *session};
	char *options = strchr(directory, ',');

	if (options)
		*options++ = '\0';
	bool good = recording_open(&recording, directory, options ? options : "");
	*session = recording.session;
	recording.session = (struct session){.pidfd = -1, .connection.fd = -1};
	recording_close(&recording);
	return good;
}

/* As TP_OUTPUT does it: an older file makes way, unless a process writes to it. */
static bool open_perfetto(struct session *session, const char *file)
{
	char *path = absolute_path(file);
	const int error = path ? tp_file_make_way(path) : ENOMEM;
	const int fd = error ? -1 : tp_file_open(path, O_RDWR | O_EXCL | O_NOFOLLOW, 0600);
	const int reason = error ? error : errno;
	bool good = fd >= 0 && session_open(session, fd, "perfetto", path);

	if (path && fd < 0 && (reason != EACCES || !fail_if_foreign(path)))
		fail_msg("'%s' can't be made: %s%s", path, strerror(reason), error == EEXIST ? "; a process writes to it" :
			 error == EINVAL ? "; it is no regular file" : "");
	if (fd >= 0)
		close(fd);
	free(path);
	return good;
}

static bool open_kind(struct session *session, const char *kind, char *name)
{
	if (strcmp(kind, "text") == 0)
		return *name ? open_text(session, name) : fail_msg("text: wants the name of a file");
	if (strcmp(kind, "ctf") == 0)
		return *name ? open_ctf(session, name) : fail_msg("ctf: wants the name of a directory");
	if (strcmp(kind, "perfetto") == 0)
		return *name ? open_perfetto(session, name) : fail_msg("perfetto: wants the name of a file");
	return session_open(session, -1, kind, name);
}

/* With the process's id, as it is here, for %p: then names are others anyway. */
static char *with_pid(const char *wanted, struct connection *connection)
{
	const pid_t pid = connection->pid ? connection->pid : connection->greeting.pid;
	char *name = malloc(tp_pid_name_size(wanted));

	if (!name) {
		fail_no_memory();
		return NULL;
	}
	tp_pid_name(name, wanted, pid);
	connection->is_one_of_several = connection->is_one_of_several && !strstr(wanted, "%p");
	return name;
}

/* Kept only when all is as wanted: until then its end comes with the connection. */
static bool open_output(struct session *session, const char *wanted, const char *events)
{
	char *kind = with_pid(wanted, &session->connection);
	char *name = kind ? strchr(kind, ':') : NULL;
	struct answer answer;

	if (!kind)
		return false;
	if (name)
		*name++ = '\0';
	bool good = name ? open_kind(session, kind, name)
			 : fail_msg("--open %s: it takes KIND:NAME, such as text:events.txt or ctf:trace,mode=flight", wanted);
	good = good && session_enable(session, events) &&
	       ask(&session->connection, &answer, -1, NULL, NULL, "keep %s", session->id);
	if (good)
		printf("output %s, %s, is open; %lu event%s enabled\n", session->id, wanted, session->nr_enabled,
		       session->nr_enabled == 1 ? " is" : "s are");
	free(kind);
	return good;
}

/* ---- The command ---- */

static bool change(const struct tp_args *args, struct session *session, bool *changed)
{
	char *events = given_events(args);
	bool good = events != NULL;

	for (size_t i = 0; i < args->nr_options && good; i++) {
		const struct tp_given *given = &args->options[i];
		if (given->id == OPTION_OPEN)
			good = open_output(session, given->value, events);
		else if (given->id >= OPTION_CLOSE && given->id <= OPTION_OFF)
			good = change_output(&session->connection, given->id, given->value);
		*changed = *changed || (given->id >= OPTION_OPEN && given->id <= OPTION_OFF);
	}
	free(events);
	return good;
}

static bool show_or_change(struct connection *connection, const struct tp_args *args)
{
	struct session session;
	bool changed = false;

	session_begin(&session, connection);
	bool good = change(args, &session, &changed);
	if (good && !changed)
		good = put_outputs(&session.connection);
	session_close(&session);
	return good;
}

static int run(const struct tp_args *args)
{
	if (args->program)
		return args_wrong(args, "it runs no program");
	if (args_has(args, 'e') && !args_has(args, OPTION_OPEN))
		return args_wrong(args, "-e goes with --open; \"tp enable\" changes an output that is open");
	return targets_each(args, show_or_change);
}

const struct tp_command command_outputs = {
	.name = "outputs",
	.summary = "show, open and close the outputs of a process",
	.usage = (const char *const[]){"-p PID...", "-p PID... --open KIND:NAME[,OPTION...] [-e EVENTS]", "-p PID... --close|--on|--off OUTPUT", NULL},
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		{OPTION_OPEN, "open", "KIND:NAME", "opens an output, which stays open after tp has ended: text:FILE, ctf:DIR[,OPTION...], "
						   "perfetto:FILE, stats:NAME[,OPTION...], ftrace:[INSTANCE], sdt: or lttng:"},
		{'e', "events", "EVENTS", "with --open: which events go there, as in 'net:*,!net:net_close'; all without this option"},
		{OPTION_CLOSE, "close", "OUTPUT", "closes an output: its id or its name"},
		{OPTION_OFF, "off", "OUTPUT", "stops the recording on an output, as the trigger traceoff does"},
		{OPTION_ON, "on", "OUTPUT", "begins it again"},
		{.name = NULL},
	},
	.text =
		"Shows the outputs of a process, in a line each: the id, who has opened it, how many events go "
		"there, how many records were lost, and its kind and name; below, the rules by which events were "
		"enabled and disabled, in their order. An output is opened by the environment (TP_OUTPUT), by the "
		"program, or by tp: kept, if it lasts, or session, if it ends with the tp that has opened it, such "
		"as \"tp trace\".\n\n"
		"--open takes what TP_OUTPUT takes; %p in a name is the process's id. The file or the directory is opened by tp, where you stand, and "
		"handed to the process; text:stdout and text:stderr are those of tp. Statistics without a file are "
		"shown by \"tp stat -o NAME\". The options of each kind are in docs/outputs.\n\n"
		"--close closes what TP_OUTPUT or tp has opened; what the program itself has opened, it closes "
		"itself.\n\n"
		"--off and --on are the kernel's file tracing_on: what is enabled stays enabled, and what was recorded "
		"stays. The trigger traceoff leaves an output off, too.\n",
	.run = run,
};
