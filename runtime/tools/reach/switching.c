/* SPDX-License-Identifier: MIT */
#include "reach/switching.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reach/find.h"
#include "reach/given.h"
#include "reach/outputs.h"
#include "tell.h"

static bool switch_on_output(struct connection *connection, const char *word, const char *output, const char *patterns)
{
	struct output_list list;
	struct answer answer;
	const struct output *found = NULL;

	if (outputs_read(&list, connection))
		found = output ? outputs_find(&list, connection, output) : outputs_only(&list, connection, NULL, "output");
	bool good = found && ask(connection, &answer, -1, NULL, NULL, "%s %s %s", word, found->id, patterns);
	if (good)
		printf("%s event%s %sd on output %s, %s\n", answer.text, strcmp(answer.text, "1") == 0 ? "" : "s", word,
		       found->id, output_title(found));
	outputs_free(&list);
	return good;
}

int switch_events(const struct tp_args *args, const char *word)
{
	struct connection connection;
	bool good = false;

	if (!args->nr_operands || args->program)
		return args_wrong(args, "give it EVENTS, such as 'net:*'");
	const char *wanted = given_pid(args);
	if (!wanted)
		return EXIT_WRONG;
	char *patterns = given_patterns(args, 0);
	if (patterns && reach(&connection, wanted)) {
		good = switch_on_output(&connection, word, args_value(args, 'o'), patterns);
		connection_close(&connection);
	}
	free(patterns);
	return good ? EXIT_DONE : EXIT_FAILED;
}
