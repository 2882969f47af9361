/* SPDX-License-Identifier: MIT */
/* snapshot.c - "tp snapshot": what a flight recorder has at this moment. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "options.h"
#include "client/common_options.h"
#include "client/outputs.h"
#include "client/recording.h"
#include "client/targets.h"
#include "fail_msg.h"

/* Of a CTF output the process does not say how it records: but it refuses this descriptor for another reason. */
static bool is_flight_recorder(struct connection *connection, const struct output *output)
{
	struct answer answer;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	request(connection, &answer, fd, NULL, NULL, "snapshot %s -", output->id);
	if (fd >= 0)
		close(fd);
	return answer.kind == ANSWER_ERROR && strcmp(answer.name, "EINVAL") != 0 && strcmp(answer.name, "ENOTSUP") != 0 &&
	       strcmp(answer.name, "EOPNOTSUPP") != 0;
}

/* Leaves the flight recorders in the list. */
static void keep_flight_recorders(struct output_list *list, struct connection *connection)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct output *output = &list->all[i];
		if (strcmp(output->kind, "ctf") == 0 && !is_flight_recorder(connection, output))
			strcpy(output->kind, "stream");
	}
}

static bool copy(struct connection *connection, const struct output *output, const char *path)
{
	struct recording recording = {.session = {.pidfd = -1, .connection = targets_take(connection)}};
	char label[PATH_MAX];
	struct answer answer;

	bool good = recording_directory(&recording, path);
	const bool made = good;
	good = good && ask(&recording.session.connection, &answer, recording.dir, NULL, NULL, "snapshot %s %s", output->id,
			output_label(label, sizeof(label), recording.path));
	if (good)
		tell_recorded(recording.path, recording.path, connection_title(&recording.session.connection), NULL);
	else if (made)
		recording_undo(&recording);
	*connection = targets_take(&recording.session.connection);
	recording_close(&recording);
	return good;
}

static bool snapshot(struct connection *connection, const struct tp_args *args)
{
	const char *wanted = args->nr_operands ? args->operands[0] : NULL;
	struct output_list list;
	const struct output *output = NULL;

	if (outputs_read(&list, connection)) {
		if (!wanted)
			keep_flight_recorders(&list, connection);
		output = wanted ? outputs_find(&list, connection, wanted)
				: outputs_only(&list, connection, "ctf", "flight recorder");
	}
	bool good = output && copy(connection, output, args_value(args, 'o'));
	outputs_free(&list);
	return good;
}

static int run(const struct tp_args *args)
{
	if (args->program || args->nr_operands > 1)
		return args_wrong(args, "give it one OUTPUT, or none");
	if (!args_has(args, 'o'))
		return args_wrong(args, "give it -o DIR, for the copy");
	return targets_each(args, snapshot);
}

const struct tp_command command_snapshot = {
	.name = "snapshot",
	.summary = "copy what a flight recorder has at this moment",
	.usage = (const char *const[]){"-p PID... -o DIR [OUTPUT]", NULL},
	.operand = "OUTPUT",
	.options = (const struct tp_option[]){
		OPTION_TARGETS,
		{'o', "output", "DIR", "the directory of the copy, which is made; one that is there must be empty"},
		{.name = NULL},
	},
	.text =
		"Copies the contents of the flight recorder that runs in the process: a CTF output with "
		"mode=flight, which TP_OUTPUT, the program itself or \"tp outputs --open\" has opened. The copy is "
		"a trace of its own. The process goes on recording, and loses nothing by it.\n\n"
		"OUTPUT is the output's id or its name, as \"tp outputs\" shows them; it is needed if there are "
		"several flight recorders, which are listed then.\n",
	.run = run,
};
