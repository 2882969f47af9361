/* SPDX-License-Identifier: MIT */
/*
 * environment.c - hits all synthetic events that TP_SYNTHETIC has defined as "EVENT u64 a; char b[]".
 */
#define CREATE_TRACE_POINTS
#include "none.h"

#include <string.h>

#include <tp/tp.h>

#include "events/synthetic.h"

static void collect(const struct tp_event *event, void *data)
{
	const char **at = data;

	while (*at)
		at++;
	if (strcmp(event->system, "synthetic") == 0)
		*at = event->name;
}

int main(void)
{
	const char *names[16] = {NULL};

	tp_for_each_event(collect, names);
	for (const char **at = names; *at; at++) {
		struct tp_synthetic *synthetic = tp_synthetic_hold(*at);
		tp_synthetic_hit(synthetic, (uint64_t[]){7, (uint64_t)(uintptr_t) "text"});
		tp_synthetic_let_go(synthetic);
	}
	return 0;
}
