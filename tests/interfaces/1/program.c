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
#include <tp/marker.h>
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

static void mark(void *data, void *call_private, const char *format, va_list *args)
{
	const struct marker *marker = call_private;
	const int n = va_arg(*args, int);

	printf("%s: %s '%s' %d %s\n", (const char *)data, marker->name, format, n, va_arg(*args, const char *));
}

/* ---- A sink ---- */

struct own_sink {
	struct tp_sink head;
	int magic; /* nobody writes behind the head */
	unsigned int events, written, records;
};

static bool own_reserve(struct tp_record *rec)
{
	rec->entry = tp_scratch_push(rec->size);
	if (!rec->entry)
		tp_sink_count_lost(rec->sink, TP_LOST_NESTED);
	return rec->entry != NULL;
}

static void own_commit(struct tp_record *rec)
{
	struct own_sink *own = (struct own_sink *)rec->sink;
	char text[1024];
	struct trace_seq s;

	trace_seq_init(&s, text, sizeof(text));
	rec->event->print(&s, rec->entry);
	own->records++;
	printf("own sink: %s:%s %u bytes: %s\n", rec->event->system, rec->event->name, rec->size, text);
	tp_scratch_pop(rec->entry);
}

static int own_describe(struct tp_sink *sink, const struct tp_event *event)
{
	printf("describe %s:%s, level %d:", event->system, event->name, (int)event->loglevel);
	for (uint32_t i = 0; i < event->event_class->nr_fields; i++) {
		const struct tp_event_field field = tp_event_field_at(event->event_class, i);
		printf(" %s %s %d at %u, %u of %u;", field.type, field.name, (int)field.kind, field.offset,
		       field.size, field.element_size);
	}
	printf("\n");
	((struct own_sink *)sink)->events++;
	return 0;
}

static int own_write(struct tp_sink *sink)
{
	((struct own_sink *)sink)->written++;
	return 0;
}

static const int *own_enable_flag(struct tp_sink *sink, const struct tp_event *event)
{
	static const int open = 1, closed = 0;

	(void)sink;
	return strcmp(event->name, "frozen_second") == 0 ? &closed : &open;
}

static int own_close(struct tp_sink *sink)
{
	const struct own_sink *own = (const struct own_sink *)sink;

	printf("own sink: closed, %u events, %s, %u records, magic %d\n", own->events, own->written ? "written" : "",
	       own->records, own->magic);
	return 0;
}

static void own_fork(struct tp_sink *sink)
{
	(void)sink;
}

static void own_lost(struct tp_sink *sink, enum tp_lost cause)
{
	tp_sink_count_lost(sink, cause);
}

static const struct tp_sink_ops own_ops = {
	.name = "own", .reserve = own_reserve, .lost = own_lost, .commit = own_commit,
	.describe_event = own_describe, .write_descriptions = own_write, .before_fork = own_fork,
	.after_fork_parent = own_fork, .after_fork_child = own_fork, .enable_flag = own_enable_flag, .close = own_close,
};

/* ---- Looking ---- */

static void tell_tracepoint(struct tracepoint *tp, void *data)
{
	struct tp_tracepoint_info info;

	(void)data;
	tp_get_tracepoint_info(tp, &info);
	printf("tracepoint %s(%s): state %d, %s sites, %u probes\n", tp->name, tp->proto, (int)info.state,
	       info.nr_sites ? "with" : "no", info.nr_probes);
}

static void tell_marker(struct marker *marker, void *data)
{
	(void)data;
	printf("marker %s '%s'%s\n", marker->name, marker->format, marker->event ? "" : ", no event");
}

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
	for (int i = 0; i < 2; i++)
		trace_mark(frozen_mark, "n %d text %s", i, "marked");
	trace_mark(frozen_bare_mark, MARK_NOARGS);
}

int main(int argc, char **argv)
{
	static struct own_sink own = { .magic = 42 };
	static char names[][8] = { "one", "two", "mark" };
	struct tp_sink *sinks[4] = { NULL };

	if (argc != 4)
		return 2;
	FILE *file = fopen(path_of(argv[1], "text"), "w");
	if (!file)
		return 2;
	sinks[0] = opened("text", tp_text_sink(file));
	sinks[1] = opened("ctf", tp_ctf_sink(path_of(argv[1], "ctf"), "packet=4K"));
	sinks[2] = opened("stats", tp_stats_sink(path_of(argv[1], "stats"), "json,interval=0,field=frozen:*.*"));
	printf("open: %d\n", tp_sink_open(&own.head, &own_ops));
	sinks[3] = opened("own", own.head.ops ? &own.head : NULL);

	printf("register: %d\n", register_trace_frozen_first(first, names[0]));
	printf("register: %d\n", register_trace_prio_frozen_first(first, names[1], TRACEPOINT_DEFAULT_PRIO + 1));
	printf("register: %d\n", register_trace_frozen_bare(bare, NULL));
	printf("register: %d\n", marker_probe_register("frozen_mark", "n %d text %s", mark, names[2]));
	hit();
	void *plugin = call(argv[2], "plugin_hit");
	void *user = call(argv[3], "user_hit");
	printf("on: %d, registered: %d\n", trace_frozen_first_enabled(), registered);
	tp_for_each_tracepoint(tell_tracepoint, NULL);
	tp_for_each_marker(tell_marker, NULL);
	tp_for_each_event(tell_event, NULL);

	/* Unload, and come back: events keep their ids, sinks what is enabled. */
	leave(user);
	leave(plugin);
	plugin = call(argv[2], "plugin_hit");
	printf("unregister: %d\n", unregister_trace_frozen_first(first, names[1]));
	printf("unregister: %d\n", unregister_trace_frozen_first(first, names[0]));
	printf("unregister: %d\n", unregister_trace_frozen_bare(bare, NULL));
	printf("unregister: %d\n", marker_probe_unregister("frozen_mark", mark, names[2]));
	printf("synchronize: %d\n", tracepoint_synchronize_unregister());
	for (int i = 0; i < 4; i++) {
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
