/* SPDX-License-Identifier: MIT */
#include "client/switching.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/find.h"
#include "client/common_options.h"
#include "client/outputs.h"
#include "client/rules.h"
#include "fail_msg.h"

static bool switch_on_output(struct connection *connection, const char *word, const char *output, const char *rules)
{
	struct output_list list;
	const struct output *found = NULL;
	unsigned long nr;

	if (outputs_read(&list, connection))
		found = outputs_choose(&list, connection, output);
	bool good = found && rules_apply(connection, word, found->id, rules, &nr);
	if (good)
		printf("%lu event%s %sd on output %s, %s\n", nr, nr == 1 ? "" : "s", word, found->id, output_title(found));
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
	if (patterns && client_connect(&connection, wanted)) {
		good = switch_on_output(&connection, word, args_value(args, 'o'), patterns);
		connection_close(&connection);
	}
	free(patterns);
	return good ? EXIT_DONE : EXIT_FAILED;
}
