/* SPDX-License-Identifier: MIT */
#include "client/common_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/rules.h"
#include "fail_msg.h"

bool given_list(const struct tp_args *args, int option, char **list)
{
	*list = NULL;
	for (size_t i = 0; i < args->nr_options; i++) {
		if (args->options[i].id == option && !(*list = rules_join(*list, args->options[i].value)))
			return false;
	}
	return true;
}

char *given_events(const struct tp_args *args)
{
	char *list;

	if (!given_list(args, 'e', &list))
		return NULL;
	return list ? list : rules_join(NULL, "*");
}

char *given_patterns(const struct tp_args *args, size_t first)
{
	char *list = NULL;

	for (size_t i = first; i < args->nr_operands; i++) {
		if (!(list = rules_join(list, args->operands[i])))
			return NULL;
	}
	return list ? list : rules_join(NULL, "*");
}

int64_t now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int64_t given_seconds(const struct tp_args *args, const char *option, const char *value)
{
	char *end;
	const double seconds = strtod(value, &end);

	if (end != value && !*end && isfinite(seconds) && seconds >= 0.01 && seconds <= 86400 * 365)
		return (int64_t)(seconds * 1000);
	args_wrong(args, "%s takes seconds, such as 0.5, and no less than 0.01", option);
	return -1;
}
