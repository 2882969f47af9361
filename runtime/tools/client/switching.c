/* SPDX-License-Identifier: MIT */
#include "client/switching.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/common_options.h"
#include "client/outputs.h"
#include "client/rules.h"
#include "fail_msg.h"

static bool switch_on_output(struct connection *connection, const struct tp_args *args)
{
	const char *word = args->command->name;
	struct output_list list;
	const struct output *found = NULL;
	char *patterns = given_patterns(args, 0);
	unsigned long nr;

	if (outputs_read(&list, connection))
		found = outputs_choose(&list, connection, args_value(args, 'o'));
	bool good = found && patterns && rules_apply(connection, word, found->id, patterns, &nr);
	if (good)
		printf("%lu event%s %sd on output %s, %s\n", nr, nr == 1 ? "" : "s", word, found->id, output_title(found));
	outputs_free(&list);
	free(patterns);
	return good;
}

int switch_events(const struct tp_args *args)
{
	if (!args->nr_operands || args->program)
		return args_wrong(args, "give it EVENTS, such as 'net:*'");
	return targets_each(args, switch_on_output);
}
