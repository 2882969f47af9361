/* SPDX-License-Identifier: MIT */
/* lessons.c - gives one lesson: "lessons NAME". It has learned it if it exits with 0, and says nothing. */
#include <string.h>

#define CREATE_TRACE_POINTS
#include "lessons.h"

static const struct {
	const char *name;
	void (*give)(void);
} lessons[] = {
#define LESSON(name) {#name, lesson_##name},
	LESSONS(LESSON)
};

static const char *given;

/* The loader calls it with main()'s arguments. */
static void __attribute__((constructor(101))) note_lesson(int argc, char **argv)
{
	given = argc > 1 ? argv[1] : "";
}

bool lesson_is(const char *name)
{
	return strcmp(given, name) == 0;
}

static void count(void *calls, unsigned long n)
{
	__atomic_fetch_add((unsigned long *)calls, n, __ATOMIC_RELAXED);
}

void all_that_there_is(bool called)
{
	unsigned long calls = 0;

	CHECK(register_trace_lessons_bare(count, &calls) == 0);
	trace_lessons_bare(1);
	CHECK(unregister_trace_lessons_bare(count, &calls) == 0);
	trace_lessons_bare(1);
	CHECK(tracepoint_synchronize_unregister() == 0);
	CHECK(calls == 1 || !called);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(lessons) / sizeof(lessons[0]); i++) {
		if (strcmp(argv[1], lessons[i].name) == 0) {
			lessons[i].give();
			return 0;
		}
	}
	return 2;
}
