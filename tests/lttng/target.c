/* SPDX-License-Identifier: MIT */
/*
 * target.c - what the LTTng tests trace: does what each line of its input
 * says, and answers it with a line, "ok" and more.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/marker.h>
#include <tp/tp.h>

#define CREATE_TRACE_POINTS
#include "target.h"

static struct tp_sink *sink;
static void *module;

static int hit(int times)
{
	static const char *const names[] = { "", "two words", "gr\303\274n \"quoted\"" };

	for (int i = 0; i < times; i++)
		trace_lt_hit(i, names[i % 3], i / 4.0);
	return times;
}

static int other(int n)
{
	trace_lt_other(n);
	return n;
}

static int mark(int n)
{
	trace_mark(lt_mark, "n %d name %s at %p", n, "a \"marker\"", (void *)0x1234);
	return n;
}

/* Ends of ranges, and many lengths. */
static int kinds(int times)
{
	const struct lt_numbers numbers[] = {
		{ .f = 0.5f, .d = -1e300, .u8 = 3 },
		{ INT8_MIN, UINT8_MAX, INT16_MIN, UINT16_MAX, INT32_MIN, UINT32_MAX, INT64_MIN, UINT64_MAX, -0.25f, 1e-300,
		  { INT16_MIN, INT16_MAX } },
		{ INT8_MAX, 1, INT16_MAX, 1, INT32_MAX, 1, INT64_MAX, 1, 3, 4, { 1, 2 } },
	};
	static const char *const texts[] = { "x", "gr\303\274n", "some text that is longer" };
	unsigned char data[512];
	struct sockaddr peer = { .sa_family = AF_INET, .sa_data = { 1, 2, 3 } };

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)('A' + i % 50);
	for (int i = 0; i < times; i++)
		trace_lt_kinds(&numbers[i % 3], texts[i / 3 % 3], (unsigned int)i % 19 + 1, data, &peer);
	trace_lt_empty(0);
	trace_lt_floats((const double[]) { 1.5, -2.0 });
	return times;
}

static int fork_and_hit(int n)
{
	int status;

	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		trace_lt_other(n);
		_exit(0);
	}
	waitpid(child, &status, 0);
	trace_lt_other(n + 1);
	return (int)child;
}

static void *hit_in_thread(void *times)
{
	hit(*(int *)times);
	return NULL;
}

static int threads(int times)
{
	pthread_t ids[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, hit_in_thread, &times);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	return times;
}

static int load(const char *path)
{
	module = dlopen(path, RTLD_NOW);
	return module ? 0 : -1;
}

static int hit_module(int n)
{
	void (*function)(int n) = (void (*)(int))(uintptr_t)dlsym(module, "hit");

	function(n);
	return n;
}

static int unload(int unused)
{
	(void)unused;
	return dlclose(module);
}

static int open_sink(int unused)
{
	struct tp_sink *opened = tp_lttng_sink();

	(void)unused;
	if (!opened)
		return -errno;
	sink = opened;
	return tp_enable(sink, "*");
}

static int close_sink(int unused)
{
	(void)unused;
	return tp_sink_close(sink);
}

static const struct command {
	const char *name;
	int (*run)(int argument);
} commands[] = {
	{ "hit", hit }, { "other", other }, { "mark", mark }, { "kinds", kinds }, { "fork", fork_and_hit },
	{ "threads", threads },
	{ "module", hit_module }, { "unload", unload }, { "open", open_sink }, { "close", close_sink },
};

int main(void)
{
	char line[1024], name[16], argument[1000];

	puts("ok ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		argument[0] = '\0';
		sscanf(line, "%15s %999s", name, argument);
		int result = strcmp(name, "load") == 0 ? load(argument) : -1;
		for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
			if (strcmp(commands[i].name, name) == 0)
				result = commands[i].run(atoi(argument));
		}
		printf("ok %d\n", result);
		fflush(stdout);
	}
	return 0;
}
