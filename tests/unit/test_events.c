/* SPDX-License-Identifier: MIT */
/*
 * test_events.c - events: their ids, their description to sinks, their records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "events/events.h"
#include "print/description.h"
#include "describe.h"
#include "failing_malloc.h"
#include "list_sink.h"

/* ---- Ids ---- */

static void wake(void)
{
	tp_events_start();
}

FIXTURE(wake, NULL)

TEST(ids_are_for_layouts)
{
	static struct sample_module m;
	static const struct part other = {.field = {.name = "other", .type = "int", .size = 4, .offset = 8, .element_size = 4,
						    .element_align = 4, .is_signed = true}};
	static const struct part_eval evals[] = {{"N", 1}, {NULL, 0}};
	uint16_t first;

	sample_module_init(&m, "ids", "ids", "int");
	ck_assert_uint_eq(m.event.id, 0);
	tp_module_load(&m.module);
	first = m.event.id;
	ck_assert_uint_ne(first, 0);
	ck_assert_uint_ne(first, tp_event_sample_int.id);
	tp_module_unload(&m.module);
	ck_assert_uint_eq(m.event.id, 0);
	tp_module_load(&m.module);
	ck_assert_uint_eq(m.event.id, first);
	tp_module_unload(&m.module);

	m.event.event_class = describe(&(struct parts){.fields = &other, .nr_fields = 1}); /* rebuilt, with another field */
	tp_module_load(&m.module);
	ck_assert_uint_ne(m.event.id, first);
	tp_module_unload(&m.module);

	sample_module_init(&m, "ids", "ids", "int"); /* and back */
	tp_module_load(&m.module);
	ck_assert_uint_eq(m.event.id, first);
	tp_module_unload(&m.module);

	sample_module_init(&m, "ids", "ids", "int");
	m.event.event_class = describe(&(struct parts){.fields = &other, .nr_fields = 1, .print_fmt = "\"other\""});
	tp_module_load(&m.module);
	ck_assert_uint_ne(m.event.id, first);
	tp_module_unload(&m.module);

	sample_module_init(&m, "ids", "ids", "int");
	m.event.event_class = describe(&(struct parts){.fields = &other, .nr_fields = 1, .evals = evals});
	tp_module_load(&m.module);
	ck_assert_uint_ne(m.event.id, first);
	tp_module_unload(&m.module);

	sample_module_init(&m, "other_system", "ids", "int");
	tp_module_load(&m.module);
	ck_assert_uint_ne(m.event.id, first);
	tp_module_unload(&m.module);
}

/* A layout whose parts are the module's: they are gone with it. */
struct layout_parts {
	struct sample_module m;
	struct tp_event_class *class; /* made of the rest when the module is loaded */
	struct parts parts;
	struct part part;
	struct trace_print_flags symbols[2];
	char name[8], type[8], symbol[8], delimiter[2], print_fmt[8];
};

static struct layout_parts *parts_new(void)
{
	struct layout_parts *parts = calloc(1, sizeof(*parts));

	sample_module_init(&parts->m, "parts", "parts", "int");
	strcpy(parts->name, "value");
	strcpy(parts->type, "int");
	strcpy(parts->symbol, "LOW");
	strcpy(parts->delimiter, "|");
	strcpy(parts->print_fmt, "\"\"");
	parts->symbols[0] = (struct trace_print_flags){1, parts->symbol};
	parts->part = (struct part){
		.field = {.name = parts->name, .type = parts->type, .size = 4, .offset = 8, .element_size = 4, .element_align = 4},
		.symbols = parts->symbols, .delimiter = parts->delimiter,
	};
	parts->parts = (struct parts){.fields = &parts->part, .nr_fields = 1, .fixed_size = 12, .print_fmt = parts->print_fmt};
	return parts;
}

static uint16_t parts_load(struct layout_parts *parts)
{
	const struct tp_event_class *class = describe(&parts->parts);

	parts->class = malloc(tp_class_size(class));
	parts->m.event.event_class = memcpy(parts->class, class, tp_class_size(class));
	tp_module_load(&parts->m.module);
	return parts->m.event.id;
}

static void parts_unload(struct layout_parts *parts)
{
	tp_module_unload(&parts->m.module);
	memset(parts->class, 'x', tp_class_size(parts->class)); /* what is unmapped is not looked at again */
	free(parts->class);
	memset(parts, 'x', sizeof(*parts));
	free(parts);
}

/* Makes one thing of the layout another. Returns false after the last. */
static bool parts_change(struct layout_parts *parts, unsigned int which)
{
	switch (which) {
	case 0: parts->name[0] = 'w'; return true;
	case 1: parts->type[0] = 'j'; return true;
	case 2: parts->symbol[0] = 'l'; return true;
	case 3: parts->symbols[0].mask = 2; return true;
	case 4: parts->symbols[0].name = NULL; return true;
	case 5: parts->delimiter[0] = ' '; return true;
	case 6: parts->delimiter[0] = '\0'; return true;
	case 7: parts->part.delimiter = NULL; return true;
	case 8: parts->print_fmt[0] = ' '; return true;
	case 9: parts->parts.print_fmt = NULL; return true;
	case 10: parts->part.field.is_signed = true; return true;
	case 11: parts->part.field.offset = 12; return true;
	case 12: parts->part.field.kind = TP_ARRAY; return true;
	case 13: parts->parts.nr_fields = 0; return true;
	case 14: parts->parts.fixed_size += 8; return true;
	default: return false;
	}
}

TEST(two_modules_of_one_event)
{
	struct layout_parts *first = parts_new(), *second, *other;
	uint16_t id = parts_load(first), other_id;

	second = parts_new();
	ck_assert_uint_eq(parts_load(second), id);
	for (unsigned int i = 0; (other = parts_new(), parts_change(other, i)); i++) {
		other_id = parts_load(other);
		ck_assert_uint_gt(other_id, id + i);
		parts_unload(other);
		other = parts_new();
		parts_change(other, i);
		ck_assert_uint_eq(parts_load(other), other_id);
		parts_unload(other);
	}
	free(other);
	parts_unload(first);
	first = parts_new();
	ck_assert_uint_eq(parts_load(first), id);
	parts_unload(second);
	parts_unload(first);
}

TEST(alone_again_and_again)
{
	struct layout_parts *parts = parts_new();
	uint16_t id = parts_load(parts);

	for (unsigned int i = 0; i < 30; i++) {
		parts_unload(parts);
		parts = parts_new();
		bool other = parts_change(parts, i);
		ck_assert(other ? parts_load(parts) > id : parts_load(parts) == id);
	}
	parts_unload(parts);
}

/* No two layouts share an id, wherever there is no memory; with memory, the ids are right again. */
TEST(no_memory_for_a_layout)
{
	capture_stderr();
	for (unsigned int memory = 0; memory < 20; memory++) {
		struct layout_parts *first = parts_new(), *second = parts_new(), *other = parts_new();
		uint16_t id = parts_load(first);
		ck_assert_uint_ne(id, 0);
		fail_malloc_after(memory);
		parts_load(second);
		ck_assert(second->m.event.id == 0 || second->m.event.id == id);
		ck_assert_uint_eq(first->m.event.id, id);
		fail_malloc_after(memory / 2);
		parts_unload(first);
		parts_unload(second);
		let_malloc_be();
		parts_change(other, 0);
		ck_assert_uint_ne(parts_load(other), id);
		first = parts_new();
		ck_assert_uint_ne(parts_load(first), 0);
		ck_assert_uint_ne(first->m.event.id, other->m.event.id);
		id = first->m.event.id;
		parts_unload(other);
		parts_unload(first);
		first = parts_new();
		ck_assert_uint_eq(parts_load(first), id);
		parts_unload(first);
	}
	char *text = captured_stderr();
	ck_assert_contains(text, " stay off until somebody registers a probe or enables an event: out of memory\n");
	free(text);
}

/* Without memory for what it was, it does not get its id back. */
TEST(forgotten_layout)
{
	struct layout_parts *parts = parts_new();
	uint16_t id = parts_load(parts);

	fail_malloc_after(0);
	parts_unload(parts);
	let_malloc_be();
	parts = parts_new();
	ck_assert_uint_gt(parts_load(parts), id);
	id = parts->m.event.id;
	parts_unload(parts);
	parts = parts_new();
	ck_assert_uint_eq(parts_load(parts), id);
	parts_unload(parts);
}

static void see(const struct tp_event *event, void *priv)
{
	char *seen = priv;

	snprintf(seen + strlen(seen), 256 - strlen(seen), "%s%d ", event->name, event->id);
}

TEST(each_event_in_order_of_ids)
{
	static struct sample_module a, b;
	char seen[256] = "", expected[256];
	const char *at;

	sample_module_init(&a, "x", "ev_a", "int");
	sample_module_init(&b, "x", "ev_b", "int");
	tp_module_load(&a.module);
	tp_module_load(&b.module);
	tp_module_unload(&a.module);
	tp_module_load(&a.module); /* back in its old place */
	snprintf(expected, sizeof(expected), "ev_a%d ev_b%d ", a.event.id, b.event.id);
	tp_for_each_event(see, seen);
	at = strstr(seen, "ev_a");
	ck_assert_ptr_nonnull(at);
	ck_assert_pstr_eq(at, expected);
	tp_module_unload(&b.module);
	tp_module_unload(&a.module);
	seen[0] = '\0';
	tp_for_each_event(see, seen);
	ck_assert_lacks(seen, "ev_");
	tp_module_load(&b.module);
	tp_for_each_event(see, seen);
	ck_assert_contains(seen, "ev_b");
}

struct order {
	uint16_t last_id;
	unsigned int nr;
};

static void check_order(const struct tp_event *event, void *priv)
{
	struct order *order = priv;

	ck_assert_uint_gt(event->id, order->last_id);
	order->last_id = event->id;
	order->nr++;
}

TEST(in_order_whoever_comes_and_goes)
{
	enum { MODULES = 7 };
	static struct sample_module m[MODULES];
	static char names[MODULES][2];
	bool loaded[MODULES] = {false};
	unsigned int nr = 0;
	uint32_t random = 1;
	struct order own = {.nr = 0};

	tp_for_each_event(check_order, &own); /* the program's */
	for (unsigned int i = 0; i < MODULES; i++) {
		names[i][0] = (char)('a' + i);
		sample_module_init(&m[i], "order", names[i], "int");
	}
	for (unsigned int i = 0; i < 500; i++) {
		random = random * 1664525 + 1013904223;
		const unsigned int which = (random >> 16) % MODULES;
		if (loaded[which])
			tp_module_unload(&m[which].module);
		else
			tp_module_load(&m[which].module);
		loaded[which] = !loaded[which];
		nr += loaded[which] ? 1 : -1u;
		struct order order = {.nr = 0};
		tp_for_each_event(check_order, &order);
		ck_assert_uint_eq(order.nr, own.nr + nr);
	}
}

TEST(all_ids_taken)
{
	static struct sample_module m;
	char name[16];

	sample_module_init(&m, "many", "many", "int");
	m.event.name = name;
	/* Each takes an id for ever. */
	for (unsigned int i = 0; i < 65535; i++) {
		snprintf(name, sizeof(name), "many%u", i);
		if (i == 65535 - 3) /* this program's own have the others */
			capture_stderr();
		tp_module_load(&m.module);
		ck_assert_int_eq(m.event.id == 0, i >= 65535 - 3);
		if (i >= 65535 - 3)
			break;
		tp_module_unload(&m.module);
	}
	char *text = captured_stderr();
	ck_assert_uint_eq(count_of(text, "\n"), 1);
	ck_assert_contains(text, "tp: event 'many:many65532' can't be recorded: all 65535 event ids");
	free(text);

	/* It is no event then, and its records are lost. */
	struct list_sink s;
	open_list_sink(&s);
	ck_assert_int_eq(tp_enable(&s.head, "many*"), 0);
	tp_probe_register("many", "int", m.event.record, &s, 10);
	sample_module_hit(&m, 1);
	ck_assert_str_eq(s.log, "");
	ck_assert_uint_eq(tp_sink_lost(&s.head), 1);
}

/* ---- Describing ---- */

TEST(describes_before_records)
{
	static struct sample_module m;
	struct list_sink s = {.nr_described = 0};

	ck_assert_int_eq(tp_sink_open(&s.head, &list_ops), 0);
	ck_assert_contains(s.log, "sample_int ");
	ck_assert_contains(s.log, "sample_kinds ");
	ck_assert_uint_eq(s.nr_described, 1);
	s.log[0] = '\0';
	sample_module_init(&m, "d", "later", "int");
	tp_enable(&s.head, "*");
	tp_module_load(&m.module);
	ck_assert_str_eq(s.log, "later ");
	ck_assert_uint_eq(s.nr_described, 2);
	s.log[0] = '\0';
	tp_module_unload(&m.module);
	tp_module_load(&m.module); /* known */
	ck_assert_str_eq(s.log, "");
	tp_module_unload(&m.module);
	tp_sink_close(&s.head);
}

TEST(failing_describe_fails_the_opening)
{
	struct list_sink s = {.describe_error = -ENOMEM};

	capture_stderr();
	ck_assert_int_eq(tp_sink_open(&s.head, &list_ops), -ENOMEM);
	free(captured_stderr());
	s = (struct list_sink){.described_error = -EIO};
	ck_assert_int_eq(tp_sink_open(&s.head, &list_ops), -EIO);
	ck_assert_int_eq(tp_enable(&s.head, "*"), -EINVAL); /* nothing is known of it */
}

TEST(undescribed_events_stay_off)
{
	static struct sample_module m;
	struct list_sink s = {.describe_error = -EINVAL};

	capture_stderr();
	ck_assert_int_eq(tp_sink_open(&s.head, &list_ops), 0);
	ck_assert_int_eq(tp_enable(&s.head, "*"), 0);
	char *text = captured_stderr();
	ck_assert_contains(text, "tp: event 'sample:sample_int' stays off in a list output");
	free(text);
	sample_module_init(&m, "d", "indescribable", "int");
	capture_stderr();
	s.describe_error = -ENOSPC;
	tp_module_load(&m.module);
	s.describe_error = 0;
	ck_assert(!tp_tracepoint_is_on(&m.tp));
	tp_module_unload(&m.module);
	s.described_error = -EIO;
	tp_module_load(&m.module);
	s.described_error = 0;
	ck_assert(!tp_tracepoint_is_on(&m.tp));
	tp_module_unload(&m.module);
	text = captured_stderr();
	ck_assert_contains(text, "tp: event 'd:indescribable' stays off in a list output");
	ck_assert_uint_eq(count_of(text, "\n"), 2);
	free(text);
	tp_module_load(&m.module); /* and works when it can be described again */
	ck_assert(tp_tracepoint_is_on(&m.tp));
	tp_module_unload(&m.module);
	tp_sink_close(&s.head);
}

/* ---- Operations ---- */

/* As long as those of a newer interface may be: what is behind ours is theirs. */
struct newer_ops {
	struct tp_sink_ops ops;
	void (*more)(void);
};

struct newer_sink {
	struct tp_sink head;
	long more, behind;
};

static void newer_operation(void)
{
}

TEST(operations_of_another_size)
{
	static struct newer_ops ops;
	struct newer_sink sink = {.more = 1, .behind = 2};
	const size_t size = offsetof(struct newer_sink, behind);

	ops.ops = plain_ops;
	ck_assert_int_eq(tp_sink_open_sized(&sink.head, size, &ops.ops, sizeof(struct tp_sink_ops) - sizeof(void *)), -EINVAL);
	ck_assert_int_eq(tp_sink_open_sized(&sink.head, sizeof(sink.head) - sizeof(void *), &ops.ops, sizeof(ops)), -EINVAL);
	ops.more = newer_operation;
	ck_assert_int_eq(tp_sink_open_sized(&sink.head, size, &ops.ops, sizeof(ops)), -EINVAL);
	ck_assert_int_eq(sink.more, 1);
	ops.more = NULL;
	ck_assert_int_eq(tp_sink_open_sized(&sink.head, size, &ops.ops, sizeof(ops)), 0);
	ck_assert_int_eq(sink.more, 0);
	ck_assert_int_eq(sink.behind, 2);
	tp_sink_close(&sink.head);
}

/* ---- Records ---- */

TEST(records_have_limits)
{
	struct list_sink s;
	char *text = malloc(70000);

	open_list_sink(&s);
	tp_enable(&s.head, "*");
	memset(text, 'x', 70000);
	text[69999] = '\0';
	trace_sample_text(text);
	text[TP_RECORD_MAX - 12] = '\0'; /* one byte too many, with the NUL */
	trace_sample_text(text);
	ck_assert_str_eq(s.log, "");
	ck_assert_uint_eq(tp_sink_lost(&s.head), 2);
	tp_sink_close(&s.head);
	free(text);
}

TEST(header_is_filled)
{
	struct list_sink s;

	open_list_sink(&s);
	tp_enable(&s.head, "*");
	s.entry[0] = (struct trace_entry){.flags = 9, .preempt_count = 9};
	trace_sample_int(1);
	ck_assert_uint_eq(s.entry[0].type, tp_event_sample_int.id);
	ck_assert_uint_eq(s.entry[0].flags, 0);
	ck_assert_uint_eq(s.entry[0].preempt_count, 0);
	ck_assert_int_eq(s.entry[0].pid, tp_thread_id());
	tp_sink_close(&s.head);
}

static void close_it(void *data, int value)
{
	(void)value;
	ck_assert_int_eq(tp_sink_close(data), -EDEADLK);
}

TEST(close_inside_a_probe_is_refused)
{
	struct list_sink s;

	open_list_sink(&s);
	register_trace_sample_int(close_it, &s);
	capture_stderr();
	trace_sample_int(1);
	char *text = captured_stderr();
	ck_assert_contains(text, "tp: tp_sink_close() was called from inside a probe");
	free(text);
	ck_assert(!s.closed);
	unregister_trace_sample_int(close_it, &s);
	ck_assert_int_eq(tp_sink_close(&s.head), -EPIPE);
}
