/* SPDX-License-Identifier: MIT */
/*
 * Uses all that crosses the border between a program and libtp, and says what came of it:
 *
 *	program DIRECTORY PLUGIN USER
 *
 * writes DIRECTORY/text, /stats and /ctf. Ends with 0 whatever libtp refuses.
 */
#define CREATE_TRACE_POINTS
#include "frozen.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <tp/trace_seq.h>
#include <tp/tp.h>

static int registered, unregistered;

int frozen_reg(void)
{
	registered++;
	return 0;
}

void frozen_unreg(void)
{
	unregistered++;
}

/* ---- Probes ---- */

static void first(void *data, long value)
{
	printf("probe %s: %ld\n", (const char *)data, value);
}

static void bare(void *data, int a, int b, int c, int d, int e, int f, int g)
{
	(void)data;
	printf("bare: %d %d %d %d %d %d %d\n", a, b, c, d, e, f, g);
}

/* ---- Looking ---- */

static void tell_event(const struct tp_event *event, void *data)
{
	char text[4096];
	struct trace_seq s;

	(void)data;
	trace_seq_init(&s, text, sizeof(text));
	int error = tp_event_format(event, &s);
	for (char *at = text; (at = strchr(at, '\n'));)
		*at = ';';
	const char *format = strstr(text, "format:"); /* behind the id */
	printf("event %s:%s: %d %s\n", event->system, event->name, error, format ? format : "?");
}

/* ---- The program ---- */

static struct tp_sink *opened(const char *kind, struct tp_sink *sink)
{
	if (!sink)
		perror(kind);
	else
		printf("%s: %s\n", kind, tp_enable(sink, "frozen:*,plugin:*,marker:*") >= 0 ? "enabled" : "failed");
	return sink;
}

static char *path_of(const char *directory, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void *call(const char *path, const char *name)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	void (*function)(void) = NULL;

	if (handle)
		*(void **)&function = dlsym(handle, name);
	if (function)
		function();
	else
		fprintf(stderr, "%s\n", dlerror());
	return handle;
}

static void leave(void *handle)
{
	if (handle)
		dlclose(handle);
}

static void hit(void)
{
	const unsigned short values[3] = { 10, 20, 30 };

	trace_frozen_fields(1, "text", values, 3, 3);
	trace_frozen_fields(2, "", values, 0, 0);
	trace_frozen_first(3);
	trace_frozen_second(4);
	trace_frozen_odd(5);
	trace_frozen_odd(6);
	trace_frozen_callbacks();
	trace_frozen_bare(1, 2, 3, 4, 5, 6, 7);
}

int main(int argc, char **argv)
{
	static char names[][8] = { "one", "two" };
	struct tp_sink *sinks[2] = { NULL };

	if (argc != 4)
		return 2;
	FILE *file = fopen(path_of(argv[1], "text"), "w");
	if (!file)
		return 2;
	sinks[0] = opened("text", tp_text_sink(file));
	sinks[1] = opened("ctf", tp_ctf_sink(path_of(argv[1], "ctf"), "packet=4K"));

	printf("register: %d\n", register_trace_frozen_first(first, names[0]));
	printf("register: %d\n", register_trace_prio_frozen_first(first, names[1], TRACEPOINT_DEFAULT_PRIO + 1));
	printf("register: %d\n", register_trace_frozen_bare(bare, NULL));
	hit();
	void *plugin = call(argv[2], "plugin_hit");
	void *user = call(argv[3], "user_hit");
	printf("on: %d, registered: %d\n", trace_frozen_first_enabled(), registered);
	tp_for_each_event(tell_event, NULL);

	/* Unload, and come back: events keep their ids, sinks what is enabled. */
	leave(user);
	leave(plugin);
	plugin = call(argv[2], "plugin_hit");
	printf("unregister: %d\n", unregister_trace_frozen_first(first, names[1]));
	printf("unregister: %d\n", unregister_trace_frozen_first(first, names[0]));
	printf("unregister: %d\n", unregister_trace_frozen_bare(bare, NULL));
	printf("synchronize: %d\n", tracepoint_synchronize_unregister());
	for (int i = 0; i < 2; i++) {
		if (!sinks[i])
			continue;
		printf("lost %lu\n", tp_sink_lost(sinks[i]));
		printf("disable %s\n", tp_disable(sinks[i], "frozen:*") < 0 ? "failed" : "done");
		printf("close %d\n", tp_sink_close(sinks[i]));
	}
	hit();
	leave(plugin);
	printf("on: %d, unregistered: %d\n", trace_frozen_first_enabled(), unregistered);
	fclose(file);
	return 0;
}
