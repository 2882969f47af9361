/* SPDX-License-Identifier: MIT */
/* ps.c - "tp ps": the processes that can be looked into. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/commands.h"
#include "options.h"
#include "client/find.h"
#include "client/targets.h"
#include "client/common_options.h"
#include "client/outputs.h"
#include "client/proc.h"
#include "client/unreachable.h"
#include "fail_msg.h"

/* Each process is asked in turn, and the others are not to wait for it. */
#define PATIENCE_MS 1000

/* The user that the process has now: a daemon that listened as root may have become another. */
static void put_user(const struct connection *connection)
{
	struct proc proc;
	const uid_t uid = connection->pid && proc_read(&proc, connection->pid) ? proc.uid : connection->uid;
	const struct passwd *user = getpwuid(uid);

	if (user)
		printf("%-10s ", user->pw_name);
	else
		printf("%-10u ", (unsigned int)uid);
}

static void put_since(const struct timespec *since)
{
	struct tm local;
	char text[32] = "?";

	if (localtime_r(&since->tv_sec, &local))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
	printf("%-19s ", text);
}

static void put_outputs(struct connection *connection)
{
	struct output_list list;

	connection->silence_ms = PATIENCE_MS;
	if (!connection->greeting.nr_outputs || !outputs_read(&list, connection)) {
		printf("-\n");
		return;
	}
	for (size_t i = 0; i < list.nr; i++)
		printf("%s%s", i ? " " : "", output_title(&list.all[i]));
	printf("%s\n", list.nr ? "" : "-");
	outputs_free(&list);
}

static void put_process(struct connection *connection)
{
	if (connection->pid)
		printf("%7d ", (int)connection->pid);
	else /* of an outer PID namespace */
		printf("%7s ", "-");
	put_user(connection);
	printf("%-15s %6lu ", connection->greeting.program, connection->greeting.nr_events);
	put_since(&connection->greeting.since);
	put_outputs(connection);
}

static void tell_unreachable(const struct connection *connection)
{
	struct proc proc;

	if (connection->state == CONNECTION_REFUSED)
		fail_msg("what listens at %s/%s can't be reached: %s", connection->place.path, connection->name,
		     connection->text);
	else if (connection->pid && proc_read(&proc, connection->pid))
		fail_msg("process %d (%s) has not answered: %s", (int)proc.pid, proc.name, why_silent(proc.pid));
	else
		fail_msg("what listens at %s/%s has not answered", connection->place.path, connection->name);
}

/* Returns how many there are. */
static size_t put_all(const struct found *found)
{
	size_t nr = 0;

	for (size_t i = 0; i < found->nr; i++) {
		struct connection *connection = &found->all[i];
		if (connection->state != CONNECTION_OPEN) {
			tell_unreachable(connection);
			continue;
		}
		if (!nr++)
			printf("%7s %-10s %-15s %6s %-19s %s\n", "PID", "USER", "PROGRAM", "EVENTS", "SINCE", "OUTPUTS");
		put_process(connection);
	}
	return nr;
}

static int put_those(const struct tp_args *args)
{
	struct targets targets;
	const bool good = targets_reach(&targets, args);

	if (good)
		put_all(&(struct found){.all = targets.all, .nr = targets.nr});
	targets_close(&targets);
	return good ? EXIT_DONE : EXIT_FAILED;
}

static int run(const struct tp_args *args)
{
	struct found found;

	if (args->program)
		return args_wrong(args, "it runs no program");
	if (args_has(args, 'p'))
		return put_those(args);
	bool good = find_all(&found, NULL);
	if (good && !put_all(&found) && !found.nr)
		fail_msg("no process listens that you may look into: programs with tracepoints that are started after \"tp setup\" do; "
		     "or start one with TP_CONTROL=1");
	found_free(&found);
	return good ? EXIT_DONE : EXIT_FAILED;
}

const struct tp_command command_ps = {
	.name = "ps",
	.summary = "list the processes that can be looked into",
	.usage = (const char *const[]){"[-p PID]...", NULL},
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		{.name = NULL},
	},
	.text =
		"Lists the processes with tracepoints that listen and that you may look into: your own ones and, if "
		"you are root, everybody's, those in containers included. Of each: its id, its user, its program, "
		"the number of its events, the time at which it began to listen, and the outputs that are open, "
		"with those that other runs of tp have opened.\n\n"
		"A process that does not answer within a second, or with -p within five, is told of on stderr. Names "
		"that dead processes have left behind are removed.\n\n"
		"WHERE IT LOOKS\n\n"
		"$TP_CONTROL; $XDG_RUNTIME_DIR/tp; /run/user/UID/tp; /run/tp/UID. For root: these of all users. For "
		"each process that you may look at: the directories that its environment names and, if it has "
		"another root directory or mount namespace, those below /proc/PID/root.\n",
	.run = run,
};
