/* SPDX-License-Identifier: MIT */
/*
 * early.c - events with filters on fields that are known early, late, or some of each. Prints for each hit how many
 * computations it took, and the records that are accepted.
 */
#define CREATE_TRACE_POINTS
#include "early.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tp/tp.h>

unsigned long early_computed;

static struct early_thing small = {.size = 4, .next = NULL}, large = {.size = 4096, .next = &small};
static const char *nowhere; /* reading there ends the program */

static void filter(struct tp_sink *sink, const char *patterns, const char *text)
{
	char *error;

	if (tp_enable_if(sink, patterns, text, &error) < 0) {
		printf("%s\n", error);
		exit(1);
	}
	printf("--- %s\n", text ? text : "no filter");
}

static void tell(const char *what)
{
	printf("%s: %lu\n", what, early_computed);
	fflush(stdout);
	early_computed = 0;
}

static void hit(int number, unsigned short bits, const struct early_thing *thing, const char *text)
{
	trace_early_hit(number, bits, thing, text);
	tell("hit");
}

static void class_one(const struct early_thing *thing, int number, const char *text)
{
	trace_early_class_one(thing, number, text);
	tell("one");
}

static void class_two(const struct early_thing *thing, int number, const char *text)
{
	trace_early_class_two(thing, number, text);
	tell("two");
}

static void handler(int sig)
{
	(void)sig;
	trace_early_hit(1, 1, &small, "handler");
	trace_early_hit(2, 1, &small, nowhere);
}

static void early(struct tp_sink *sink)
{
	filter(sink, "early:*", "number == 1");
	hit(2, 0, &small, nowhere);
	hit(1, 0, &small, "accepted");
	class_one(&small, 2, nowhere);
	class_two(&small, 1, "accepted");
	raise(SIGUSR1);
	tell("signal");
	filter(sink, "early:*", "number < 0 || number & 4 && common_type != 0 && common_flags == 0");
	hit(-2147483647, 0, &large, "accepted");
	hit(4, 0, &large, "accepted");
	hit(3, 0, &large, nowhere);
	filter(sink, "early:early_hit", "bits == 65535 && !(number >= 10)");
	hit(9, 65535, &large, "accepted");
	hit(10, 65535, &large, nowhere);
	hit(9, 65534, &large, nowhere);
}

static void of_every_event(struct tp_sink *sink)
{
	char text[128];

	snprintf(text, sizeof(text), "number == 1 && common_pid == %d && comm != \"nobody\" && cpu >= 0", (int)gettid());
	filter(sink, "early:*", text);
	puts("");
	hit(1, 0, &small, "accepted");
	hit(2, 0, &small, nowhere);
	filter(sink, "early:*", "common_pid == 0");
	hit(1, 0, &small, nowhere);
	filter(sink, "early:*", "comm == \"nobody\"");
	hit(1, 0, &small, nowhere);
}

static void late(struct tp_sink *sink)
{
	filter(sink, "early:*", "number == 1 || text == \"late\"");
	hit(1, 0, &small, "accepted");
	hit(2, 0, &small, "refused");
	hit(2, 0, &small, "late");
	filter(sink, "early:early_hit", "bits != 1 && (number == 1 || text == \"late\")");
	hit(1, 0, &small, "accepted");
	hit(2, 0, &small, "refused");
	hit(2, 1, &small, nowhere);
	filter(sink, "early:early_hit", "text == \"late\" && number == 1");
	hit(2, 0, &small, "refused");
	filter(sink, "early:early_hit", "size == 4096");
	hit(1, 0, &large, "accepted");
	hit(1, 0, &small, "refused");
	filter(sink, "early:early_hit", "counted == 7");
	hit(7, 0, &large, "accepted");
	hit(8, 0, &large, "refused");
	filter(sink, "early:early_class_*", "size == 4096 && counted > 1");
	class_one(&large, 2, "accepted");
	class_one(&small, 2, "refused");
}

/* What is refused is not lost, however long it is. */
static void lost(struct tp_sink *sink)
{
	static char text[70000];

	memset(text, 'x', sizeof(text) - 1);
	filter(sink, "early:*", "number == 1");
	trace_early_hit(2, 0, &small, text);
	printf("lost: %lu\n", tp_sink_lost(sink));
	trace_early_hit(1, 0, &small, text);
	printf("lost: %lu\n", tp_sink_lost(sink));
	tell("both");
}

static void off_and_on(struct tp_sink *sink)
{
	filter(sink, "early:early_hit", NULL);
	hit(2, 0, &small, "accepted");
	tp_disable(sink, "early:*");
	hit(1, 0, &small, nowhere);
	filter(sink, "early:early_hit", "number == 1");
	hit(1, 0, &small, "accepted");
	hit(2, 0, &small, nowhere);
}

int main(void)
{
	struct tp_sink *sink = tp_text_sink(stdout);

	nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGUSR1, handler);
	early(sink);
	of_every_event(sink);
	late(sink);
	lost(sink);
	off_and_on(sink);
	return tp_sink_close(sink);
}
